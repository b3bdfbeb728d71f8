#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include <npucore/types.hpp>

namespace npu::ir {

/// The shapes of a network's outputs, in argument order, as Intel's compiler writes them for the
/// driver. Empty if the ELF lacks them. Throws like elf_sections().
std::vector<Shape> elf_output_shapes(std::span<const std::byte> elf, const std::string& file_name);

}  // namespace npu::ir
