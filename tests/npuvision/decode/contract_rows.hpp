// docs/models.md's table as data: the outputs of each form that a family may have, and the card
// that a model's files, or who runs it, give with them.
#pragma once

#include <string>
#include <vector>

#include "shapes.hpp"

namespace npu::vision {

struct RowOutput {
  Shaped shaped;
  /// Contents, a letter for each value along `axis`, the last one for the rest. Empty: shares.
  ///   s, l   a share from 0 to 1; a logit
  ///   p      pixels of the input
  ///   a, z   an edge in pixels: in the first half of the input, in the second
  ///   x, y   the same as a share of the input
  ///   w, 0   a class; nothing but 0
  ///   1      a class, counted from one
  std::string values;
  std::size_t axis = 0;  ///< counted from the last one
};

struct ContractRow {
  std::string name;
  Family family;
  ModelCard card;
  std::vector<RowOutput> outputs;
  InputSize input = {32, 32};

  std::vector<Shaped> shapes() const;
};

/// All sizes are small, and differ where two of them could be mistaken for each other.
const std::vector<ContractRow>& contract_rows();

}  // namespace npu::vision
