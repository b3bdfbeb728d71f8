#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string_view>

/// What a process's software NPU tells of itself: softnpu/README.md has the layout. Anybody may
/// forge it, so it is believed of that process only.
struct SoftwarePage {
  std::uint64_t process = 0;  ///< as it sees itself
  std::uint64_t busy_ns = 0;  ///< the running command included
  std::uint64_t inferences = 0;
  std::uint64_t memory_bytes = 0;
};

/// The target of the descriptor's link.
bool may_be_software_page(std::string_view link_target);
/// `now_ns`: CLOCK_MONOTONIC. Nothing for other bytes than a page's.
std::optional<SoftwarePage> parse_software_page(std::string_view bytes, std::uint64_t now_ns);
/// Nothing for what is no regular file with a page.
std::optional<SoftwarePage> read_software_page(const std::filesystem::path& path,
                                               std::uint64_t now_ns);
