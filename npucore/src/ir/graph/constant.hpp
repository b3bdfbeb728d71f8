#pragma once

#include <cstdint>
#include <optional>
#include <pugixml.hpp>
#include <vector>

#include "document.hpp"
#include "weights.hpp"

namespace npu::ir {

/// All constants, also those in bodies of loops and conditions, in the order of the file.
std::vector<pugi::xml_node> all_constants(pugi::xml_node net);

/// The attribute in rt_info by which a compiler finds a constant's bytes at an address.
inline constexpr const char* kPointerAttribute = "WeightsPointerAttribute";
/// Addresses that a file brings along are nobody's memory.
void remove_addresses(pugi::xml_node constant);

/// Where a constant's bytes are in the weights.
struct DataRange {
  std::uint64_t offset = 0, size_bytes = 0;
};
/// Nothing when the layer does not say so in usable numbers.
std::optional<DataRange> data_range(pugi::xml_node constant);

double half_to_double(std::uint16_t bits);

/// The values of what feeds `input` when that is a constant of type f32, f16 or f64, or such a
/// constant behind a Convert (as compressed weights are); an empty list for more than `most`
/// values. Nothing when it is something else.
std::optional<std::vector<double>> constant_input(const Document& document, const Weights& weights,
                                                  PortRef input, std::size_t most);

}  // namespace npu::ir
