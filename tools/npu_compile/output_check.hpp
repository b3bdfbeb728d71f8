#pragma once

#include <filesystem>
#include <vector>

/// Throws npu::Error where writing `output` would replace one of `inputs`, or what is no regular
/// file: before a compilation that takes minutes, not after it.
void check_output(const std::filesystem::path& output,
                  const std::vector<std::filesystem::path>& inputs);
