#include "usage.hpp"

#include <algorithm>
#include <limits>

namespace {

/// The growth of a counter: 0 if it began anew.
double growth(std::uint64_t before, std::uint64_t now) {
  return now > before ? static_cast<double>(now - before) : 0;
}

double share(double part, double whole) {
  return whole > 0 ? std::clamp(part / whole, 0.0, 1.0) : 0;
}

template <class T, class Test>
const T* find(const std::vector<T>& all, const Test& test) {
  const auto found = std::find_if(all.begin(), all.end(), test);
  return found == all.end() ? nullptr : &*found;
}

ProcessUsage usage_of(const ProcessSample& now, const ProcessSample* before, double seconds) {
  ProcessUsage usage{.pid = now.pid,
                     .program = now.program,
                     .device = now.device,
                     .utilization = std::nullopt,
                     .inferences_per_second = std::nullopt,
                     .memory_bytes = now.memory_bytes};
  // A new process has a usage from the second sample on.
  if (!before || !before->busy_ns || !now.busy_ns || seconds <= 0) return usage;
  usage.utilization = share(growth(*before->busy_ns, *now.busy_ns), seconds * 1e9);
  usage.inferences_per_second =
      growth(before->inferences.value_or(0), now.inferences.value_or(0)) / seconds;
  return usage;
}

void set_utilization(DeviceUsage& usage, const DeviceSample& now, const DeviceSample* before,
                     const Sample& sample, double seconds) {
  if (const auto told = sample.sysman.find(now.pci_address); told != sample.sysman.end()) {
    usage.utilization = std::clamp(told->second, 0.0, 1.0);
    usage.utilization_from = "sysman";
  } else if (before && before->busy_us && now.busy_us) {
    usage.utilization = share(growth(*before->busy_us, *now.busy_us), seconds * 1e6);
    usage.utilization_from = "sysfs";
  }
}

std::uint64_t sum(std::uint64_t a, std::uint64_t b) {
  const std::uint64_t most = std::numeric_limits<std::uint64_t>::max();
  return a > most - b ? most : a + b;
}

/// Each process has its own software NPU: takes the share of the busiest.
DeviceUsage software_usage(const std::vector<ProcessUsage>& processes) {
  DeviceUsage usage{.name = kSoftwareDevice, .pci_address = "", .is_software = true};
  for (const ProcessUsage& process : processes) {
    if (process.device != kSoftwareDevice) continue;
    ++usage.processes;
    usage.memory_bytes = sum(usage.memory_bytes.value_or(0), process.memory_bytes.value_or(0));
    if (!process.utilization) continue;
    usage.utilization = std::max(usage.utilization.value_or(0), *process.utilization);
    usage.utilization_from = "processes";
  }
  return usage;
}

}  // namespace

Usage usage_between(const Sample& before, const Sample& now) {
  Usage usage;
  usage.seconds = growth(before.at_ns, now.at_ns) / 1e9;
  for (const ProcessSample& process : now.processes) {
    const auto is_same = [&](const ProcessSample& other) {
      return other.pid == process.pid && other.device == process.device;
    };
    usage.processes.push_back(usage_of(process, find(before.processes, is_same), usage.seconds));
  }
  for (const DeviceSample& device : now.devices) {
    DeviceUsage& row = usage.devices.emplace_back(
        DeviceUsage{.name = device.name, .pci_address = device.pci_address});
    row.memory_bytes = device.memory_bytes;
    row.frequency_mhz = device.frequency_mhz;
    row.max_frequency_mhz = device.max_frequency_mhz;
    const auto is_same = [&](const DeviceSample& other) { return other.name == device.name; };
    set_utilization(row, device, find(before.devices, is_same), now, usage.seconds);
    row.processes = static_cast<std::size_t>(
        std::count_if(usage.processes.begin(), usage.processes.end(),
                      [&](const ProcessUsage& process) { return process.device == device.name; }));
  }
  DeviceUsage software = software_usage(usage.processes);
  if (software.processes > 0) {
    usage.devices.push_back(std::move(software));
  }
  return usage;
}

void keep_only(Usage& usage, Shown shown) {
  if (shown == Shown::kAll) return;
  const bool wants_software = shown == Shown::kSoftware;
  std::erase_if(usage.devices,
                [&](const DeviceUsage& device) { return device.is_software != wants_software; });
  std::erase_if(usage.processes, [&](const ProcessUsage& process) {
    return (process.device == kSoftwareDevice) != wants_software;
  });
}
