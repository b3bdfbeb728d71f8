#pragma once

#include <filesystem>
#include <vector>

/// Throws npu::Error if writing `output` would replace one of `inputs`, or a file that is not
/// regular. Call it before a compilation, which takes minutes.
void check_output(const std::filesystem::path& output,
                  const std::vector<std::filesystem::path>& inputs);
/// As above, for a blob and the .modelinfo that is copied beside it; the first input is the model.
void check_outputs(const std::filesystem::path& blob,
                   const std::vector<std::filesystem::path>& inputs);
