#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "blob_container.hpp"

namespace npu::ir {

/// Converts the description to XML text. `compiler_version` is only for people who read the file.
std::string write_description(const BlobDescription& description, std::uint32_t compiler_version);
/// The description in the text. Throws std::invalid_argument that says what is wrong with it.
BlobDescription read_description(std::string_view text);

}  // namespace npu::ir
