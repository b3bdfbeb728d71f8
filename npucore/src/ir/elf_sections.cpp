#include "elf_sections.hpp"

#include <elf.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <string_view>

#include <npucore/error.hpp>

#include "base/text.hpp"

#include "byte_reader.hpp"

namespace npu::ir {
namespace {

// Byte offsets in the headers of ELF64.
constexpr std::size_t kTableOffset = 0x28, kEntrySize = 0x3a;
constexpr std::size_t kHeaderBytes = 64, kEntryBytes = 64;
/// Limits all names together: many sections may name the same text of the file.
constexpr std::size_t kMostNameBytes = std::size_t{16} << 20;

struct Header {
  std::uint64_t table_offset = 0;
  std::uint16_t entry_size = 0, count = 0, names_index = 0;
};

struct Entry {
  std::uint32_t name = 0, type = 0;
  std::uint64_t offset = 0, size_bytes = 0;
};

[[noreturn]] void damaged(const std::string& file_name, const std::string& what) {
  throw Error(
      ErrorCode::kInvalidArgument,
      base::text(base::quoted(file_name), " is damaged: ", what, "; make or copy it again"));
}

Header header_of(std::span<const std::byte> elf, const std::string& file_name) {
  if (elf.size() < kHeaderBytes) {
    damaged(file_name, "it is shorter than an ELF header");
  }
  Header header;
  header.table_offset = *ByteReader(elf.subspan(kTableOffset)).number<std::uint64_t>();
  ByteReader rest(elf.subspan(kEntrySize));
  header.entry_size = *rest.number<std::uint16_t>();
  header.count = *rest.number<std::uint16_t>();
  header.names_index = *rest.number<std::uint16_t>();
  return header;
}

Entry entry_at(std::span<const std::byte> table, std::size_t entry_size, std::size_t index) {
  ByteReader reader(table.subspan(index * entry_size, kEntryBytes));
  Entry entry;
  entry.name = *reader.number<std::uint32_t>();
  entry.type = *reader.number<std::uint32_t>();
  reader.take(16);  // flags, address
  entry.offset = *reader.number<std::uint64_t>();
  entry.size_bytes = *reader.number<std::uint64_t>();
  return entry;
}

/// Whether the section is one of ELF's own with bytes in the file; NPUs have types of their own.
bool has_bytes(const Entry& entry) {
  constexpr std::array kTypes{SHT_PROGBITS, SHT_SYMTAB, SHT_STRTAB, SHT_RELA, SHT_NOTE, SHT_REL};
  return std::find(kTypes.begin(), kTypes.end(), static_cast<int>(entry.type)) != kTypes.end();
}

std::string_view name_at(std::span<const std::byte> names, std::uint32_t offset) {
  if (offset >= names.size()) return {};
  const auto* start = reinterpret_cast<const char*>(names.data()) + offset;
  return {start, ::strnlen(start, names.size() - offset)};
}

}  // namespace

std::vector<BlobSection> elf_sections(std::span<const std::byte> elf,
                                      const std::string& file_name) {
  const Header header = header_of(elf, file_name);
  if (header.count == 0) return {};
  const std::uint64_t table_bytes = std::uint64_t(header.count) * header.entry_size;
  if (header.entry_size < kEntryBytes || header.table_offset > elf.size() ||
      table_bytes > elf.size() - header.table_offset || header.names_index >= header.count) {
    damaged(file_name, "its section headers are not inside it");
  }
  const auto table = elf.subspan(header.table_offset, table_bytes);
  const Entry strings = entry_at(table, header.entry_size, header.names_index);
  if (strings.offset > elf.size() || strings.size_bytes > elf.size() - strings.offset) {
    damaged(file_name, "its section names are not inside it");
  }
  const auto names = elf.subspan(strings.offset, strings.size_bytes);
  std::vector<BlobSection> sections;
  std::size_t left = kMostNameBytes;
  for (std::size_t index = 1; index < header.count; ++index) {
    const Entry entry = entry_at(table, header.entry_size, index);
    const std::string_view name = name_at(names, entry.name);
    if (name.size() > left) {
      damaged(file_name, "the names of its sections have more than 16 MiB together");
    }
    left -= name.size();
    const bool is_inside =
        entry.offset <= elf.size() && entry.size_bytes <= elf.size() - entry.offset;
    if (has_bytes(entry) && !is_inside) {
      damaged(file_name,
              base::text("its section ", base::quoted(name), " of ", entry.size_bytes, " bytes at ",
                         entry.offset, " reaches past its end, ", elf.size()));
    }
    sections.push_back({std::string(name), entry.type, entry.offset, entry.size_bytes});
  }
  return sections;
}

}  // namespace npu::ir
