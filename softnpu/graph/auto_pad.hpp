#pragma once

#include <openvino/core/model.hpp>

namespace softnpu {

/// Like Intel's compiler: throws INVALID_ARGUMENT, which names the convolution, for auto_pad
/// SAME_UPPER with strides if the filter is of single elements, or the picture's size varies.
void check_auto_pads(const ov::Model& model);

}  // namespace softnpu
