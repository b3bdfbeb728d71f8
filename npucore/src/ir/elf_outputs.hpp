#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include <npucore/types.hpp>

namespace npu::ir {

/// The shapes of a network's outputs, in argument order, as Intel's compiler tells them to the
/// driver. Empty where the ELF does not. Throws as elf_sections().
std::vector<Shape> elf_output_shapes(std::span<const std::byte> elf, const std::string& file_name);

}  // namespace npu::ir
