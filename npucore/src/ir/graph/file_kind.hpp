#pragma once

#include <cstddef>
#include <filesystem>
#include <span>
#include <string>

namespace npu::ir {

/// The file's name in quotes, or "the model in memory" where it is empty, for messages.
std::string title_of(const std::filesystem::path& file);

/// Throws where the file is neither an IR nor text, but something else that people take for a
/// model: it says what, and how an IR is made of it.
void refuse_other_kinds(std::span<const std::byte> bytes, const std::filesystem::path& file);

/// The IR in a folder, as exporters leave one; any other path as it is. Throws for a folder with
/// no IR or several.
std::filesystem::path ir_in(const std::filesystem::path& path);

}  // namespace npu::ir
