#pragma once

#include <meta/npumeta.h>

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "common/refs.hpp"

namespace gstnpu {

/// The outputs of a model that an element of GStreamer's own decodes together, as caps describe
/// them: from GStreamer 1.28 on. Before that caps are silent about tensors, and all below gives
/// caps as they are.
/// https://gstreamer.freedesktop.org/documentation/additional/design/machine-learning-analytics.html
struct TensorGroup {
  std::string id;                     ///< "yolo-v8-out"; empty: there is none
  std::vector<GstNpuTensor> tensors;  ///< without memory
  /// Width and height of the only frames whose pixels are those of the tensors; nullopt: any.
  std::optional<std::pair<std::uint32_t, std::uint32_t>> size;
};

/// What frames of `caps` are with the tensors on them: of no other size, which decoders would take
/// for the model's. Groups of elements upstream stay.
CapsRef with_tensors(const GstCaps* caps, const TensorGroup& group);

/// What may leave an element that takes `caps`: frames of the tensors' size with them, others
/// without.
CapsRef all_with_tensors(const GstCaps* caps, const TensorGroup& group);

/// What an element must take so that downstream gets the frames `wanted`: upstream knows nothing of
/// the tensors, and where those are asked for, frames have their size.
CapsRef without_tensors(const GstCaps* wanted, const TensorGroup& group);

/// Why frames of `offered` give downstream not what it wants; empty where the tensors are not to
/// blame. `file` is the model.
std::string tensor_refusal(const GstCaps* offered, const GstCaps* wanted, const TensorGroup& group,
                           const std::string& file);

}  // namespace gstnpu
