#include "npy.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <utility>

#include <npucore/error.hpp>

namespace {

using npu::ElementType;
using npu::Error;
using npu::ErrorCode;

constexpr std::string_view kMagic = "\x93NUMPY";

[[noreturn]] void refuse(const std::filesystem::path& file, const std::string& reason) {
  throw Error(ErrorCode::kInvalidArgument,
              "--input: " + file.string() + " is no array that can be used: " + reason);
}

ElementType type_of(std::string_view descr) {
  using Name = std::pair<std::string_view, ElementType>;
  constexpr std::array kNames = {
      Name{"<f4", ElementType::kF32}, Name{"<f2", ElementType::kF16},
      Name{"<f8", ElementType::kF64}, Name{"|u1", ElementType::kU8},
      Name{"|i1", ElementType::kI8},  Name{"|b1", ElementType::kBoolean},
      Name{"<i2", ElementType::kI16}, Name{"<i4", ElementType::kI32},
      Name{"<i8", ElementType::kI64}, Name{"<u2", ElementType::kU16},
      Name{"<u4", ElementType::kU32}, Name{"<u8", ElementType::kU64},
  };
  const auto* found = std::find_if(kNames.begin(), kNames.end(),
                                   [&](const Name& name) { return name.first == descr; });
  return found == kNames.end() ? ElementType::kUnknown : found->second;
}

/// The value behind 'key': in the header's dictionary.
std::string_view value_of(std::string_view header, std::string_view key) {
  const auto at = header.find("'" + std::string(key) + "':");
  if (at == header.npos) return {};
  const auto value = header.substr(at + key.size() + 3);
  return value.substr(std::min(value.find_first_not_of(' '), value.size()));
}

npu::Shape shape_of(std::string_view text, const std::filesystem::path& file) {
  npu::Shape shape;
  const auto end = text.find(')');
  if (!text.starts_with('(') || end == text.npos) {
    refuse(file, "its header tells no shape");
  }
  text = text.substr(1, end - 1);
  while (true) {
    text.remove_prefix(std::min(text.find_first_not_of(", "), text.size()));
    if (text.empty()) return shape;
    std::int64_t dimension = 0;
    const auto [stopped, failed] =
        std::from_chars(text.data(), text.data() + text.size(), dimension);
    if (failed != std::errc() || dimension < 0) {
      refuse(file, "its header tells no shape");
    }
    shape.push_back(dimension);
    text.remove_prefix(static_cast<std::size_t>(stopped - text.data()));
  }
}

/// Version 1 gives the header's length in two bytes, later ones in four.
std::pair<std::size_t, std::size_t> header_range(std::string_view bytes) {
  const std::size_t digits = bytes.size() > 6 && bytes[6] == 1 ? 2 : 4;
  if (bytes.size() < 8 + digits) return {bytes.size(), 1};
  std::size_t length = 0;
  for (std::size_t i = 0; i < digits; ++i) {
    length |= std::size_t{static_cast<unsigned char>(bytes[8 + i])} << (8 * i);
  }
  return {8 + digits, length};
}

}  // namespace

std::optional<NpyHeader> parse_npy(std::string_view bytes, const std::filesystem::path& file) {
  if (!bytes.starts_with(kMagic)) return {};
  const auto [begin, length] = header_range(bytes);
  if (length > bytes.size() - begin) {
    refuse(file, "its header is cut off");
  }
  const auto header = bytes.substr(begin, length);
  const auto descr = value_of(header, "descr");
  const auto quoted = descr.substr(std::min<std::size_t>(1, descr.size()), descr.find('\'', 1) - 1);
  NpyHeader found;
  found.type = type_of(quoted);
  if (found.type == ElementType::kUnknown) {
    refuse(file, "no tensor has its type " + std::string(quoted));
  }
  if (!value_of(header, "fortran_order").starts_with("False")) {
    refuse(file, "its order is Fortran's; save numpy.ascontiguousarray() of it");
  }
  found.shape = shape_of(value_of(header, "shape"), file);
  found.data_offset = begin + length;
  return found;
}
