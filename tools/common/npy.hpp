#pragma once

#include <filesystem>
#include <optional>
#include <span>
#include <string>

#include <npucore/types.hpp>

/// NumPy's file of one array: what its header tells, and where its bytes begin.
struct NpyHeader {
  npu::ElementType type = npu::ElementType::kUnknown;
  npu::Shape shape;
  std::size_t data_offset = 0;
};

/// Nothing where the file does not begin as NumPy's do. Throws npu::Error, after `file`, for a
/// header that cannot be read, an array in Fortran's order and a type that no tensor has.
std::optional<NpyHeader> parse_npy(std::string_view bytes, const std::filesystem::path& file);
