// Streams of tensors without frames, in the form that NNStreamer's elements take.
#pragma once

#include <gst/gst.h>

#include <memory>
#include <utility>
#include <vector>

#include "common/refs.hpp"

#include "graph.hpp"

namespace gstnpu {

/// other/tensors caps for any model.
CapsRef any_tensor_caps();

/// other/tensors,format=static caps for these outputs, sizes innermost first. Throws npu::Error for
/// outputs that NNStreamer cannot describe.
CapsRef tensor_caps(const std::vector<GstNpuTensor>& outputs, gint rate_n, gint rate_d);

/// Turns a stream's events for frames into events for tensors, whose caps are known once the
/// model's outputs are. Single-threaded.
class TensorStream {
 public:
  /// Returns the events to send now, in order; holds back those that must follow the caps.
  std::vector<EventRef> pass(EventRef event);
  /// Returns the events to send before a buffer of this model. Throws npu::Error.
  std::vector<EventRef> begin(const std::shared_ptr<const Graph>& graph);

 private:
  std::vector<EventRef> take_held() { return std::exchange(held_, {}); }

  gint rate_n_ = 0, rate_d_ = 1;
  std::shared_ptr<const Graph> graph_;  // graph of the last caps; null: caps must be sent
  bool has_caps_ = false;
  std::vector<EventRef> held_;
};

}  // namespace gstnpu
