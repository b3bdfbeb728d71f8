#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include <npucore/device.hpp>

/// What npu-info found out.
struct Report {
  std::vector<npu::Finding> findings;        ///< steps of looking for a real NPU
  std::optional<npu::DeviceInfo> device;     ///< the one that was opened
  std::vector<npu::Finding> dmabuf_sources;  ///< of that device: where offered memory comes from
  std::string error;                         ///< why none was
};

Report make_report(npu::DeviceKind kind);
nlohmann::ordered_json to_json(const Report& report);
std::string to_text(const Report& report);
