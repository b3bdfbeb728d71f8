// The whole numbers that a graph computes before it sees any value: sizes, places, counts.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <pugixml.hpp>
#include <vector>

#include "ir/graph/document.hpp"
#include "ir/graph/weights.hpp"

namespace npu::ir {

/// The numbers of one value, in order; an empty one is unknown before the graph runs.
using WholeNumbers = std::vector<std::optional<std::int64_t>>;

/// Reads constants, and computations on constants and on sizes of tensors.
class WholeNumberReader {
 public:
  WholeNumberReader(const Document& document, const Weights& weights)
      : document_(document), weights_(weights) {}

  /// Nothing for more than 16 numbers, and for other computations.
  std::optional<WholeNumbers> of(PortRef value) const;

 private:
  std::optional<WholeNumbers> read(PortRef value) const;
  bool is_list(pugi::xml_node layer, std::size_t position) const;
  std::optional<WholeNumbers> of_input(pugi::xml_node layer, std::size_t position) const;
  std::optional<std::int64_t> only(pugi::xml_node layer, std::size_t position) const;
  std::optional<WholeNumbers> read_constant(pugi::xml_node layer) const;
  std::optional<WholeNumbers> read_size(pugi::xml_node layer) const;
  std::optional<WholeNumbers> read_gather(pugi::xml_node layer) const;
  std::optional<WholeNumbers> read_slice(pugi::xml_node layer) const;
  std::optional<WholeNumbers> read_split(pugi::xml_node layer, std::size_t part) const;
  std::optional<WholeNumbers> read_concat(pugi::xml_node layer) const;
  std::optional<WholeNumbers> read_arithmetic(pugi::xml_node layer) const;
  std::optional<WholeNumbers> read_reduction(pugi::xml_node layer) const;

  const Document& document_;
  const Weights& weights_;
  mutable std::map<PortRef, std::optional<WholeNumbers>> known_;
  mutable std::size_t depth_ = 0;
};

}  // namespace npu::ir
