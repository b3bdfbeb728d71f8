#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include <npucore/device.hpp>

/// The findings of npu-info.
struct Report {
  std::vector<npu::Finding> findings;        ///< steps of looking for a real NPU
  std::optional<npu::DeviceInfo> device;     ///< the opened one
  std::vector<npu::Finding> dmabuf_sources;  ///< of that device: sources of offered memory
  std::string error;                         ///< the reason why no device was opened
};

/// As "1.13", or "1.13.0".
std::string dotted(const npu::Version& version, bool with_patch);

Report make_report(const std::string& device_name);
nlohmann::ordered_json to_json(const Report& report);
std::string to_text(const Report& report);
