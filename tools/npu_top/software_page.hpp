#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string_view>

/// The status page of a process's software NPU: softnpu/README.md has the layout. Anybody may forge
/// it, so it is believed only about that process.
struct SoftwarePage {
  std::uint64_t process = 0;  ///< as it sees itself
  std::uint64_t busy_ns = 0;  ///< the running command included
  std::uint64_t inferences = 0;
  std::uint64_t memory_bytes = 0;
};

/// Whether a descriptor's link may lead to such a page.
bool may_be_software_page(std::string_view link_target);
/// `now_ns`: CLOCK_MONOTONIC. Nothing if the bytes are no page.
std::optional<SoftwarePage> parse_software_page(std::string_view bytes, std::uint64_t now_ns);
/// Nothing if it is no regular file with a page.
std::optional<SoftwarePage> read_software_page(const std::filesystem::path& path,
                                               std::uint64_t now_ns);
