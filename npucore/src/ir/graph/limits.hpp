#pragma once

#include <cstddef>
#include <pugixml.hpp>
#include <string>

namespace npu::ir {

/// What an IR may have. The largest models that are public stay below a tenth of each; what goes
/// over the graph takes time and memory in proportion to these, not to what a file claims.
struct Limits {
  static constexpr std::size_t kBytes = std::size_t{128} << 20;
  /// A layer inside a loop's body is six below the net. pugixml takes out a tree by recursion.
  static constexpr int kDepth = 256;
  static constexpr std::size_t kLayers = std::size_t{1} << 18;  ///< with those in bodies
  static constexpr std::size_t kPorts = std::size_t{1} << 14;   ///< inputs or outputs of a layer
  static constexpr std::size_t kAttributes = 256;               ///< of one element
  static constexpr std::size_t kNameBytes = 256;  ///< of an element, a type, a layer's id
  static constexpr std::size_t kNamesBytes = std::size_t{1} << 16;  ///< of layers and tensors
  static constexpr std::size_t kRank = 64;                          ///< dimensions of a tensor
  /// Names of all outputs together, or of all model information: one text of the file may be in
  /// each.
  static constexpr std::size_t kCopiedBytes = std::size_t{16} << 20;
  static constexpr std::size_t kStateBytes = std::size_t{1} << 30;  ///< initial values, together
  /// In one element, but for the lists of layers and edges.
  static constexpr std::size_t kChildren = std::size_t{1} << 16;
  /// In a layer, and in a port beside its dimensions: many layers may look at the same one.
  static constexpr std::size_t kParts = 64;
};

/// The first limit that the elements exceed, as the end of "... is not a readable IR: "; else
/// empty.
std::string exceeded_limit(const pugi::xml_document& xml);

}  // namespace npu::ir
