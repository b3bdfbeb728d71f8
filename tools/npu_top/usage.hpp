#pragma once

#include <map>

#include "devices.hpp"
#include "processes.hpp"

/// All that is seen at one time.
struct Sample {
  std::uint64_t at_ns = 0;  ///< CLOCK_MONOTONIC
  std::vector<DeviceSample> devices;
  std::vector<ProcessSample> processes;
  /// What Sysman tells since its last call, by PCI address.
  std::map<std::string, double> sysman;
};

/// Of a time: shares are 0 to 1, and what nobody tells is nothing.
struct DeviceUsage {
  std::string name, pci_address;
  bool is_software = false;
  std::optional<double> utilization;
  std::string utilization_from;  ///< "sysman", "sysfs" or "processes"; empty where nothing is known
  std::optional<std::uint64_t> memory_bytes, frequency_mhz, max_frequency_mhz;
  std::size_t processes = 0;
};

struct ProcessUsage {
  std::uint64_t pid = 0;
  std::string program, device;
  std::optional<double> utilization, inferences_per_second;
  std::optional<std::uint64_t> memory_bytes;
};

struct Usage {
  double seconds = 0;
  std::vector<DeviceUsage> devices;  ///< the software NPU last, where a process uses it
  std::vector<ProcessUsage> processes;
};

Usage usage_between(const Sample& before, const Sample& now);

/// Which devices are asked for.
enum class Shown { kAll, kNpu, kSoftware };
void keep_only(Usage& usage, Shown shown);
