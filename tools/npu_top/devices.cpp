#include "devices.hpp"

#include "files.hpp"

namespace fs = std::filesystem;

namespace {

bool is_npu(const fs::path& device) {
  const std::string driver = fs::path(target_of(device / "driver")).filename();
  return driver == "intel_vpu" || driver == "intel_npu";
}

}  // namespace

std::vector<DeviceSample> find_devices(const fs::path& root) {
  std::vector<DeviceSample> found;
  const fs::path accelerators = root / "sys/class/accel";
  for (const std::string& name : names_in(accelerators)) {
    const fs::path device = accelerators / name / "device";
    if (!is_npu(device)) continue;
    found.push_back({.name = name,
                     .pci_address = fs::path(target_of(device)).filename(),
                     .busy_us = read_number(device / "npu_busy_time_us"),
                     .memory_bytes = read_number(device / "npu_memory_utilization"),
                     .frequency_mhz = read_number(device / "npu_current_frequency_mhz"),
                     .max_frequency_mhz = read_number(device / "npu_max_frequency_mhz")});
  }
  return found;
}
