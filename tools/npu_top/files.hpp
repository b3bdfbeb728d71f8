#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

/// At most so many bytes of a file; nothing if it cannot be read.
std::optional<std::string> read_text(const std::filesystem::path& path, std::size_t most_bytes);
/// The number in a file; nothing if there is no file, or no number in it.
std::optional<std::uint64_t> read_number(const std::filesystem::path& path);
/// Takes decimal digits only.
std::optional<std::uint64_t> number_of(std::string_view digits);
/// The names in a folder, in order; none if it cannot be read.
std::vector<std::string> names_in(const std::filesystem::path& folder);
/// The target of a link; empty if it is none.
std::string target_of(const std::filesystem::path& link);
/// The text without blanks and line breaks at both ends.
std::string_view trimmed(std::string_view text);
