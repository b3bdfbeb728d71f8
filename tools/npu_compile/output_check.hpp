#pragma once

#include <filesystem>
#include <vector>

/// Throws npu::Error where writing `output` would replace one of `inputs`, or what is no regular
/// file: before a compilation that takes minutes, not after it.
void check_output(const std::filesystem::path& output,
                  const std::vector<std::filesystem::path>& inputs);
/// The same of a blob and of the .modelinfo that is copied beside it; the first input is the model.
void check_outputs(const std::filesystem::path& blob,
                   const std::vector<std::filesystem::path>& inputs);
