#include "elf_mutator.hpp"

#include <elf.h>

#include <cstddef>

namespace npu::fuzz {
namespace {

std::size_t place_of_header(std::string_view elf, std::size_t index) {
  const auto header = number_at<Elf64_Ehdr>(elf, 0);
  return header.e_shoff + index * std::max<std::size_t>(header.e_shentsize, 1);
}

void change_file_header(std::string& elf, Random& random) {
  auto header = number_at<Elf64_Ehdr>(elf, 0);
  const auto number = random.number();
  switch (random.below(5)) {
    case 0:
      header.e_shoff = number;
      break;
    case 1:
      header.e_shentsize = static_cast<Elf64_Half>(number);
      break;
    case 2:
      header.e_shnum = static_cast<Elf64_Half>(number);
      break;
    case 3:
      header.e_shstrndx = static_cast<Elf64_Half>(number);
      break;
    default:
      header.e_ident[random.below(EI_NIDENT)] = static_cast<unsigned char>(number);
      break;
  }
  put_number(elf, 0, header);
}

void change_section_header(std::string& elf, Random& random) {
  const auto place = place_of_header(elf, random.below(number_at<Elf64_Ehdr>(elf, 0).e_shnum));
  auto section = number_at<Elf64_Shdr>(elf, place);
  const auto number = random.number();
  switch (random.below(4)) {
    case 0:
      section.sh_name = static_cast<Elf64_Word>(number);
      break;
    case 1:
      section.sh_type = static_cast<Elf64_Word>(random.below(9));
      break;
    case 2:
      section.sh_offset = random.one_in(2) ? number : elf.size() - random.below(64);
      break;
    default:
      section.sh_size = random.one_in(2) ? number : elf.size() - random.below(64);
      break;
  }
  put_number(elf, place, section);
}

void change_content(std::string& elf, Random& random) {
  const auto place = place_of_header(elf, random.below(number_at<Elf64_Ehdr>(elf, 0).e_shnum));
  const auto section = number_at<Elf64_Shdr>(elf, place);
  if (section.sh_offset > elf.size() || section.sh_size > elf.size() - section.sh_offset) return;
  if (random.one_in(2)) {
    put_number(elf, section.sh_offset + random.below(section.sh_size) / 4 * 4,
               static_cast<std::uint32_t>(random.number()));
    return;
  }
  auto content = mutate_bytes(elf.substr(section.sh_offset, section.sh_size), 0);
  content.resize(section.sh_size);
  elf.replace(section.sh_offset, section.sh_size, content);
}

void change_length(std::string& elf, Random& random) {
  const auto size = random.one_in(2) ? random.below(elf.size()) : elf.size() + random.below(256);
  elf.resize(std::max<std::size_t>(size, SELFMAG));
}

}  // namespace

SectionRange find_section(std::string_view elf, std::string_view name) {
  const auto header = number_at<Elf64_Ehdr>(elf, 0);
  const auto names = number_at<Elf64_Shdr>(elf, place_of_header(elf, header.e_shstrndx));
  for (std::size_t index = 1; index < header.e_shnum; ++index) {
    const auto section = number_at<Elf64_Shdr>(elf, place_of_header(elf, index));
    if (names.sh_offset > elf.size() || section.sh_offset > elf.size()) continue;
    if (section.sh_size > elf.size() - section.sh_offset) continue;
    const auto text = elf.substr(names.sh_offset);
    if (section.sh_name < text.size() && text.substr(section.sh_name).starts_with(name)) {
      return {section.sh_offset, section.sh_size};
    }
  }
  return {};
}

std::string mutate_elf(std::string_view elf, Random& random) {
  if (elf.size() < sizeof(Elf64_Ehdr) || !elf.starts_with(ELFMAG) || random.one_in(10)) {
    return mutate_bytes(std::string(elf));
  }
  std::string changed(elf);
  for (auto changes = 1 + random.below(3); changes > 0; --changes) {
    switch (random.below(8)) {
      case 0:
        change_file_header(changed, random);
        break;
      case 1:
        change_length(changed, random);
        break;
      case 2:
      case 3:
      case 4:
        change_content(changed, random);
        break;
      default:
        change_section_header(changed, random);
        break;
    }
  }
  return changed;
}

}  // namespace npu::fuzz
