#pragma once

#include <map>

#include "devices.hpp"
#include "processes.hpp"

/// Everything seen at one time.
struct Sample {
  std::uint64_t at_ns = 0;  ///< CLOCK_MONOTONIC
  std::vector<DeviceSample> devices;
  std::vector<ProcessSample> processes;
  /// Sysman's utilization since its last call, by PCI address.
  std::map<std::string, double> sysman;
};

/// Usage over a time: shares are 0 to 1; unknown values are empty.
struct DeviceUsage {
  std::string name, pci_address;
  bool is_software = false;
  std::optional<double> utilization;
  std::string utilization_from;  ///< "sysman", "sysfs" or "processes"; empty if unknown
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
  std::vector<DeviceUsage> devices;  ///< the software NPU last, if a process uses it
  std::vector<ProcessUsage> processes;
};

Usage usage_between(const Sample& before, const Sample& now);

/// The devices to show.
enum class Shown { kAll, kNpu, kSoftware };
void keep_only(Usage& usage, Shown shown);
