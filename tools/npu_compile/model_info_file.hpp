#pragma once

#include <filesystem>
#include <optional>

/// Puts the .modelinfo that belongs to `model` (model.xml.modelinfo or model.modelinfo) beside
/// `blob`, under the blob's name without its extension, and tells where. Nothing when there is
/// none, or when the blob finds the same file already. Throws npu::Error.
std::optional<std::filesystem::path> copy_model_info(const std::filesystem::path& model,
                                                     const std::filesystem::path& blob);
