#pragma once

#include <filesystem>
#include <optional>

/// The file that copy_model_info() would write; nothing if it would write none.
std::optional<std::filesystem::path> model_info_target(const std::filesystem::path& model,
                                                       const std::filesystem::path& blob);

/// Copies the .modelinfo that belongs to `model` (model.xml.modelinfo or model.modelinfo) beside
/// `blob`, under the blob's name without its extension, and returns the new path. Nothing if there
/// is none, or if the blob finds the same file already. Throws npu::Error.
std::optional<std::filesystem::path> copy_model_info(const std::filesystem::path& model,
                                                     const std::filesystem::path& blob);
