#pragma once

#include <cstdint>
#include <string>

#include "ir/graph/model_impl.hpp"

namespace npu::ir {

/// The model's input that takes a picture.
struct ImageInput {
  pugi::xml_node layer;
  Port port;
  bool channels_last = false;  ///< NHWC, else NCHW
  std::uint32_t channels = 0;  ///< 1 or 3
  std::uint32_t width = 0, height = 0;
};

/// `name` empty: the only input of rank 4. Throws Error(kNotFound) that lists the inputs, or
/// Error(kUnsupported) for an input that takes no picture.
ImageInput find_image_input(const Model::Impl& model, const std::string& name);

}  // namespace npu::ir
