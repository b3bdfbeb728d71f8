#pragma once

#include <cstddef>
#include <pugixml.hpp>
#include <string>

namespace npu::ir {

/// Limits of an IR. The largest public models stay below a tenth of each. Work on the graph takes
/// time and memory in proportion to these, not to a file's claims.
struct Limits {
  static constexpr std::size_t kBytes = std::size_t{128} << 20;
  /// A layer inside a loop's body is six below the net. pugixml destroys a tree by recursion.
  static constexpr int kDepth = 256;
  static constexpr std::size_t kLayers = std::size_t{1} << 18;  ///< including bodies
  static constexpr std::size_t kPorts = std::size_t{1} << 14;   ///< inputs or outputs of a layer
  static constexpr std::size_t kAttributes = 256;               ///< of one element
  static constexpr std::size_t kNameBytes = 256;  ///< of an element, a type, a layer's id
  static constexpr std::size_t kNamesBytes = std::size_t{1} << 16;  ///< names of layers and tensors
  static constexpr std::size_t kRank = 64;                          ///< dimensions of a tensor
  /// Limits the names of all outputs together, and all model information: each may hold the same
  /// text of the file.
  static constexpr std::size_t kCopiedBytes = std::size_t{16} << 20;
  static constexpr std::size_t kStateBytes = std::size_t{1} << 30;  ///< initial values, together
  /// Children of one element, except the lists of layers and edges.
  static constexpr std::size_t kChildren = std::size_t{1} << 16;
  /// Parts of a layer, or of a port beside its dimensions: many layers may look at the same one.
  static constexpr std::size_t kParts = 64;
};

/// The first limit that the elements exceed, as the end of "... is not a readable IR: "; else
/// empty.
std::string exceeded_limit(const pugi::xml_document& xml);

}  // namespace npu::ir
