#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include <npucore/compiled_model.hpp>

namespace npu::ir {

/// The sections of a little-endian ELF64 file, without the empty first one. Throws
/// Error(kInvalidArgument) that names `file_name` if headers point outside of the file.
std::vector<BlobSection> elf_sections(std::span<const std::byte> elf, const std::string& file_name);

}  // namespace npu::ir
