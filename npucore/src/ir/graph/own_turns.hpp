// Layers that turn the three channels of a picture, RGB to BGR or back.
#pragma once

#include <pugixml.hpp>

#include "document.hpp"
#include "weights.hpp"

namespace npu::ir {

/// The channels behind a layer that picks or orders parts of a picture.
enum class Turn {
  kOther,    ///< something else
  kNone,     ///< all of them, in their order
  kTurned,   ///< all three, in reverse order
  kUnknown,  ///< which ones it takes cannot be read from the file
};

/// Reads Gather, Slice, StridedSlice and Reverse; kOther for other layers.
Turn turn_of(const Document& document, const Weights& weights, pugi::xml_node layer);
/// Reads a Split and the Concat that takes all of its parts.
Turn turn_of(const Document& document, const Weights& weights, pugi::xml_node split,
             pugi::xml_node concat);
/// Whether the weights of this Convolution have been turned: OpenVINO moves a turn of the channels
/// into them when it saves a model, as a Gather or as a constant that keeps a Gather's name.
bool has_turned_weights(const Document& document, const Weights& weights,
                        pugi::xml_node convolution);

}  // namespace npu::ir
