#pragma once

#include <filesystem>
#include <optional>
#include <span>
#include <string>

#include <npucore/types.hpp>

/// The header of NumPy's file of one array, and the offset of its bytes.
struct NpyHeader {
  npu::ElementType type = npu::ElementType::kUnknown;
  npu::Shape shape;
  std::size_t data_offset = 0;
};

/// Nothing if the file does not begin like NumPy's. Throws npu::Error, after `file`, for an
/// unreadable header, an array in Fortran's order and a type that no tensor has.
std::optional<NpyHeader> parse_npy(std::string_view bytes, const std::filesystem::path& file);
