#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

inline constexpr const char* kSoftwareDevice = "software";

/// What one process has on one NPU at a time.
struct ProcessSample {
  std::uint64_t pid = 0;
  std::string program;  ///< its name, without control characters
  std::string device;   ///< "accel0", or kSoftwareDevice
  std::optional<std::uint64_t> memory_bytes;
  // Of the software NPU; the kernel does not tell them of a process.
  std::optional<std::uint64_t> busy_ns, inferences;
};

/// What /proc/<pid>/fdinfo/<n> tells of an NPU's descriptor.
struct Client {
  std::string id;
  std::optional<std::uint64_t> memory_bytes;
};
/// Nothing for a descriptor of another driver.
std::optional<Client> parse_fdinfo(std::string_view text);

/// The processes that have an NPU open, by id, as far as this one may look. `root`: where proc is.
std::vector<ProcessSample> find_processes(const std::filesystem::path& root, std::uint64_t now_ns);
