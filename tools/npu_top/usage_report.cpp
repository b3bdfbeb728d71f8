#include "usage_report.hpp"

#include <algorithm>
#include <array>
#include <cmath>

namespace {

constexpr const char* kUnknown = "-";

std::string padded(const std::string& text, std::size_t width) {
  return text + std::string(width > text.size() ? width - text.size() : 1, ' ');
}

std::string right(const std::string& text, std::size_t width) {
  return std::string(width > text.size() ? width - text.size() : 0, ' ') + text + "  ";
}

std::string percent(const std::optional<double>& share) {
  return share ? std::to_string(std::lround(*share * 100)) + " %" : kUnknown;
}

/// One digit behind the point, whatever the locale.
std::string tenths(double value) {
  constexpr double kMost = 1e18;  // a process may forge its counts, and they must fit an integer
  const long long all = std::llround(std::min(value * 10, kMost));
  return std::to_string(all / 10) + "." + std::to_string(all % 10);
}

std::string rate(const std::optional<double>& per_second) {
  return per_second ? tenths(*per_second) : kUnknown;
}

std::string size_text(const std::optional<std::uint64_t>& bytes) {
  if (!bytes) return kUnknown;
  constexpr std::array kUnits = {"B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
  auto value = static_cast<double>(*bytes);
  std::size_t unit = 0;
  for (; value >= 1024 && unit + 1 < kUnits.size(); ++unit) value /= 1024;
  return (unit == 0 ? std::to_string(*bytes) : tenths(value)) + " " + kUnits[unit];
}

std::string frequency(const DeviceUsage& device) {
  if (!device.frequency_mhz && !device.max_frequency_mhz) return kUnknown;
  const auto text = [](const std::optional<std::uint64_t>& mhz) {
    return mhz ? std::to_string(*mhz) : kUnknown;
  };
  return text(device.frequency_mhz) + "/" + text(device.max_frequency_mhz);
}

std::string devices_text(const Usage& usage) {
  std::string text = padded("NPU", 14) + right("busy", 6) + right("memory", 11) + right("MHz", 10) +
                     right("processes", 9) + "where\n";
  for (const DeviceUsage& device : usage.devices) {
    const std::string where =
        device.is_software ? "one in each process; busy: the busiest" : device.pci_address;
    text += padded(device.name, 14) + right(percent(device.utilization), 6) +
            right(size_text(device.memory_bytes), 11) + right(frequency(device), 10) +
            right(std::to_string(device.processes), 9) + where + "\n";
  }
  return text;
}

std::string processes_text(const Usage& usage) {
  std::string text = right("PID", 7) + padded("NPU", 10) + right("busy", 6) + right("inf/s", 9) +
                     right("memory", 11) + "program\n";
  for (const ProcessUsage& process : usage.processes) {
    text += right(std::to_string(process.pid), 7) + padded(process.device, 10) +
            right(percent(process.utilization), 6) + right(rate(process.inferences_per_second), 9) +
            right(size_text(process.memory_bytes), 11) + process.program + "\n";
  }
  return text;
}

template <class T>
nlohmann::ordered_json json_of(const std::optional<T>& value) {
  return value ? nlohmann::ordered_json(*value) : nlohmann::ordered_json();
}

nlohmann::ordered_json to_json(const DeviceUsage& device) {
  return {{"name", device.name},
          {"kind", device.is_software ? "software" : "npu"},
          {"pci_address", device.pci_address},
          {"utilization", json_of(device.utilization)},
          {"utilization_from", device.utilization_from},
          {"memory_bytes", json_of(device.memory_bytes)},
          {"frequency_mhz", json_of(device.frequency_mhz)},
          {"max_frequency_mhz", json_of(device.max_frequency_mhz)},
          {"processes", device.processes}};
}

nlohmann::ordered_json to_json(const ProcessUsage& process) {
  return {{"pid", process.pid},
          {"program", process.program},
          {"device", process.device},
          {"utilization", json_of(process.utilization)},
          {"inferences_per_second", json_of(process.inferences_per_second)},
          {"memory_bytes", json_of(process.memory_bytes)}};
}

}  // namespace

std::string to_text(const Usage& usage, bool sees_all) {
  std::string text = usage.devices.empty()
                         ? "no NPU was found, and no process uses the software NPU\n"
                         : devices_text(usage);
  if (!usage.processes.empty()) {
    text += "\n" + processes_text(usage);
  }
  if (!sees_all) {
    text += "\nOther users' processes are seen by root only.\n";
  }
  return text;
}

std::string cut_to_screen(std::string_view text, std::size_t rows, std::size_t columns) {
  std::string shown;
  std::size_t row = 1, column = 0;
  for (const char c : text) {
    if (row >= rows) break;  // the last row is the cursor's
    const bool begins_character = static_cast<unsigned char>(c) >> 6 != 2;
    if (c == '\n') {
      ++row;
      column = 0;
    } else if (begins_character) {
      ++column;
    }
    if (columns == 0 || column <= columns) {
      shown += c;
    }
  }
  return shown;
}

nlohmann::ordered_json to_json(const Usage& usage, bool sees_all) {
  nlohmann::ordered_json devices = nlohmann::ordered_json::array();
  for (const DeviceUsage& device : usage.devices) devices.push_back(to_json(device));
  nlohmann::ordered_json processes = nlohmann::ordered_json::array();
  for (const ProcessUsage& process : usage.processes) processes.push_back(to_json(process));
  return {{"seconds", usage.seconds},
          {"sees_all_users", sees_all},
          {"devices", std::move(devices)},
          {"processes", std::move(processes)}};
}
