#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

/// At most so many bytes of a file; nothing where it cannot be read.
std::optional<std::string> read_text(const std::filesystem::path& path, std::size_t most_bytes);
/// A file of one number; nothing where there is none, or another word.
std::optional<std::uint64_t> read_number(const std::filesystem::path& path);
/// Decimal digits and nothing else.
std::optional<std::uint64_t> number_of(std::string_view digits);
/// The names in a folder, in order; none where it cannot be read.
std::vector<std::string> names_in(const std::filesystem::path& folder);
/// Where a link leads; empty for none.
std::string target_of(const std::filesystem::path& link);
/// Without blanks and line breaks at both ends.
std::string_view trimmed(std::string_view text);
