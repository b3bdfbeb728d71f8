#pragma once

#include <string>
#include <string_view>

#include "mutation.hpp"

namespace npu::fuzz {

/// An ELF64 file with one to three changes of its header, its section headers or what they point
/// to; by bytes where it is none.
std::string mutate_elf(std::string_view elf, Random& random);

/// Position of the content of the section of that name; both 0 where there is none.
struct SectionRange {
  std::uint64_t offset = 0, size_bytes = 0;
};
SectionRange find_section(std::string_view elf, std::string_view name);

}  // namespace npu::fuzz
