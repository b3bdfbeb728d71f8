#include "elf_outputs.hpp"

#include <algorithm>
#include <cstdint>
#include <optional>

#include "byte_reader.hpp"
#include "elf_sections.hpp"

namespace npu::ir {
namespace {

using Bytes = std::span<const std::byte>;

// Intel's compiler describes networks as lists, of which the fourth has the outputs.
constexpr std::uint32_t kDescriptionSection = 0x8aaaaaaa;
constexpr int kOutputList = 3;
// A tensor: nine strides, eight dimensions, a name, its order and type, the number of dimensions.
constexpr std::size_t kTensorBytes = 0x180, kDimensionsAt = 0x48, kRankAt = 0x174;
constexpr std::uint32_t kMostRank = 8;

struct List {
  std::uint64_t first = 0, next = 0, count = 0, item_bytes = 0;
};

std::optional<Bytes> part(Bytes bytes, std::uint64_t offset, std::uint64_t size_bytes) {
  if (offset > bytes.size() || size_bytes > bytes.size() - offset) return {};
  return bytes.subspan(offset, size_bytes);
}

std::optional<List> list_at(Bytes section, std::uint64_t offset) {
  constexpr std::size_t kHeaderBytes = 32;
  const auto header = part(section, offset, kHeaderBytes);
  if (!header) return {};
  ByteReader reader(*header);
  List list;
  for (auto* field : {&list.first, &list.next, &list.count, &list.item_bytes}) {
    *field = reader.number<std::uint64_t>().value_or(0);
  }
  return list;
}

std::optional<Shape> shape_of(Bytes tensor) {
  const auto rank = ByteReader(tensor.subspan(kRankAt)).number<std::uint32_t>().value_or(0);
  if (rank > kMostRank) return {};
  ByteReader reader(tensor.subspan(kDimensionsAt));
  Shape shape;
  for (std::uint32_t i = 0; i < rank; ++i) {
    shape.push_back(reader.number<std::uint32_t>().value_or(0));
  }
  return shape;
}

std::vector<Shape> shapes_in(Bytes section, const List& list) {
  std::vector<Shape> shapes;
  if (list.item_bytes != kTensorBytes) return {};
  for (std::uint64_t i = 0; i < list.count; ++i) {
    const auto rest = part(section, list.first, (i + 1) * kTensorBytes);
    const auto shape = rest ? shape_of(rest->last(kTensorBytes)) : std::nullopt;
    if (!shape) return {};
    shapes.push_back(*shape);
  }
  return shapes;
}

}  // namespace

std::vector<Shape> elf_output_shapes(Bytes elf, const std::string& file_name) {
  const auto sections = elf_sections(elf, file_name);
  const auto found = std::find_if(sections.begin(), sections.end(), [](const auto& section) {
    return section.type == kDescriptionSection;
  });
  const auto section =
      found == sections.end() ? std::nullopt : part(elf, found->offset, found->size_bytes);
  if (!section) return {};
  auto list = list_at(*section, 0);
  for (int i = 0; list && i < kOutputList; ++i) list = list_at(*section, list->next);
  return list ? shapes_in(*section, *list) : std::vector<Shape>();
}

}  // namespace npu::ir
