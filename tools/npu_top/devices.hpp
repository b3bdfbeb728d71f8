#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

/// The kernel's facts about an NPU at one time; older kernels give fewer.
struct DeviceSample {
  std::string name;         ///< "accel0"
  std::string pci_address;  ///< "0000:00:0b.0"; empty if unknown
  std::optional<std::uint64_t> busy_us;
  std::optional<std::uint64_t> memory_bytes;
  std::optional<std::uint64_t> frequency_mhz;  ///< 0 while it sleeps
  std::optional<std::uint64_t> max_frequency_mhz;
};

/// The NPUs of the kernel's driver, by name. `root`: the folder that holds sys.
std::vector<DeviceSample> find_devices(const std::filesystem::path& root);
