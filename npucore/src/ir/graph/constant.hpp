#pragma once

#include <cstdint>
#include <optional>
#include <pugixml.hpp>
#include <string>
#include <vector>

#include "document.hpp"
#include "weights.hpp"

namespace npu::ir {

/// All constants, also those in bodies of loops and conditions, in the order of the file.
std::vector<pugi::xml_node> all_constants(pugi::xml_node net);

/// The attribute in rt_info by which a compiler finds a constant's bytes at an address.
inline constexpr const char* kPointerAttribute = "WeightsPointerAttribute";
/// Drops addresses that came with the file: they point to nobody's memory.
void remove_addresses(pugi::xml_node constant);

/// The place of a constant's bytes in the weights.
struct DataRange {
  std::uint64_t offset = 0, size_bytes = 0;
};
/// Nothing if the layer has no usable numbers for it.
std::optional<DataRange> data_range(pugi::xml_node constant);

double half_to_double(std::uint16_t bits);

/// The values of a constant of type f32, f16 or f64 that feeds `input`, directly or through a
/// Convert (as compressed weights do); an empty list for more than `most` values. Nothing for any
/// other layer.
std::optional<std::vector<double>> constant_input(const Document& document, const Weights& weights,
                                                  PortRef input, std::size_t most);

/// One sentence for all constants of i64 or u64 with numbers that signed 32 bits do not hold; empty
/// if none has.
/// Numbers that mean "to the end" of a dimension, beyond 2^62, do not count.
std::vector<std::string> wide_number_warnings(const Document& document, const Weights& weights);

}  // namespace npu::ir
