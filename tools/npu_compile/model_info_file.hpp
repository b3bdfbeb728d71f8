#pragma once

#include <filesystem>
#include <optional>

/// Where copy_model_info() would write; nothing when it would not.
std::optional<std::filesystem::path> model_info_target(const std::filesystem::path& model,
                                                       const std::filesystem::path& blob);

/// Puts the .modelinfo that belongs to `model` (model.xml.modelinfo or model.modelinfo) beside
/// `blob`, under the blob's name without its extension, and tells where. Nothing when there is
/// none, or when the blob finds the same file already. Throws npu::Error.
std::optional<std::filesystem::path> copy_model_info(const std::filesystem::path& model,
                                                     const std::filesystem::path& blob);
