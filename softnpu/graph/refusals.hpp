#pragma once

#include <openvino/core/model.hpp>

#include "base/config.hpp"

namespace softnpu {

/// Like Intel's compiler: throws INVALID_ARGUMENT, which names the convolution, for auto_pad
/// SAME_UPPER with strides if the filter is of single elements, or the picture's size varies.
void check_auto_pads(const ov::Model& model);

/// True for a layer that is refused on purpose.
bool is_refused(const ov::Node& layer, const Refusal& refusal);
/// Throws INVALID_ARGUMENT for a model with such a layer. The words name none, as they often do
/// with Intel's compiler.
void check_layers(const ov::Model& model, const Refusal& refusal);

}  // namespace softnpu
