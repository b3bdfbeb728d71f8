#pragma once

#include <filesystem>
#include <memory>

#include "ir/graph/model_impl.hpp"

namespace npu::ir {

/// Reads and checks an IR; `weights` empty means the .bin beside the .xml.
std::shared_ptr<Model::Impl> read_ir(const std::filesystem::path& path,
                                     const std::filesystem::path& weights);

}  // namespace npu::ir
