// A stream of tensors alone, as NNStreamer's elements take it.
#pragma once

#include <gst/gst.h>

#include <memory>
#include <utility>
#include <vector>

#include "common/refs.hpp"

#include "graph.hpp"

namespace gstnpu {

/// other/tensors of any model.
CapsRef any_tensor_caps();

/// other/tensors,format=static of these outputs, sizes innermost first. Throws npu::Error for what
/// NNStreamer has no words for.
CapsRef tensor_caps(const std::vector<GstNpuTensor>& outputs, gint rate_n, gint rate_d);

/// Turns events of frames into those of tensors: caps are known once a model's outputs are. Of one
/// thread.
class TensorStream {
 public:
  /// What goes out now, in order; the rest waits for the caps.
  std::vector<EventRef> pass(EventRef event);
  /// What goes out in front of a buffer of this model. Throws npu::Error.
  std::vector<EventRef> begin(const std::shared_ptr<const Graph>& graph);

 private:
  std::vector<EventRef> take_held() { return std::exchange(held_, {}); }

  gint rate_n_ = 0, rate_d_ = 1;
  std::shared_ptr<const Graph> graph_;  // of the last caps; null: they are to be told anew
  bool has_caps_ = false;
  std::vector<EventRef> held_;
};

}  // namespace gstnpu
