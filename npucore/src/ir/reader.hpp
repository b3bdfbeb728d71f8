#pragma once

#include <filesystem>
#include <memory>
#include <span>
#include <string_view>

#include "ir/graph/model_impl.hpp"

namespace npu::ir {

/// Reads and checks an IR; `weights` empty means the .bin beside the .xml.
std::shared_ptr<Model::Impl> read_ir(const std::filesystem::path& path,
                                     const std::filesystem::path& weights);

/// The same from memory. Without an `owner` the weights are copied, if a constant needs them.
std::shared_ptr<Model::Impl> read_ir(std::string_view xml, std::span<const std::byte> weights,
                                     std::shared_ptr<const void> owner);

}  // namespace npu::ir
