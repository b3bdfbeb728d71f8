#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

inline constexpr const char* kSoftwareDevice = "software";

/// One process's use of one NPU at one time.
struct ProcessSample {
  std::uint64_t pid = 0;
  std::string program;  ///< its name, without control characters
  std::string device;   ///< "accel0", or kSoftwareDevice
  std::optional<std::uint64_t> memory_bytes;
  // Given by the software NPU only; the kernel does not give them for a process.
  std::optional<std::uint64_t> busy_ns, inferences;
};

/// The contents of /proc/<pid>/fdinfo/<n> for an NPU's descriptor.
struct Client {
  std::string id;
  std::optional<std::uint64_t> memory_bytes;
};
/// Nothing for a descriptor of another driver.
std::optional<Client> parse_fdinfo(std::string_view text);

/// The processes that have an NPU open, by id, as far as this one may look. `root`: the folder of
/// proc.
std::vector<ProcessSample> find_processes(const std::filesystem::path& root, std::uint64_t now_ns);
