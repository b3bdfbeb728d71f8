#pragma once

#include <meta/npumeta.h>

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "common/refs.hpp"

namespace gstnpu {

/// The outputs of a model that GStreamer's own decoders take together, as caps describe them from
/// GStreamer 1.28 on. With older versions caps do not mention tensors, and the functions below
/// return caps unchanged.
/// https://gstreamer.freedesktop.org/documentation/additional/design/machine-learning-analytics.html
struct TensorGroup {
  std::string id;                     ///< "yolo-v8-out"; empty: there is none
  std::vector<GstNpuTensor> tensors;  ///< without memory
  /// The frame size at which frame and model pixels are the same; nullopt: any.
  std::optional<std::pair<std::uint32_t, std::uint32_t>> size;
};

/// Adds the group to `caps`, but only for frames of its size: decoders would take any size for the
/// model's. Groups of elements upstream stay.
CapsRef with_tensors(const GstCaps* caps, const TensorGroup& group);

/// Caps that may leave an element which takes `caps`: frames of the tensors' size with the group,
/// other frames without.
CapsRef all_with_tensors(const GstCaps* caps, const TensorGroup& group);

/// Caps that an element must take so that downstream gets `wanted`. Upstream knows no tensors;
/// where they are asked for, frames must have their size.
CapsRef without_tensors(const GstCaps* wanted, const TensorGroup& group);

/// Why frames of `offered` do not give downstream what it wants; empty where tensors are not the
/// reason. `file` is the model's.
std::string tensor_refusal(const GstCaps* offered, const GstCaps* wanted, const TensorGroup& group,
                           const std::string& file);

}  // namespace gstnpu
