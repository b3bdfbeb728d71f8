#pragma once

#include <memory>
#include <npucore/tensor.hpp>
#include <string>
#include <vector>

#include "plugin/copy_cause.hpp"
#include "plugin/graph.hpp"
#include "plugin/refs.hpp"
#include "plugin/tensor_recycler.hpp"

namespace gstnpu {

/// A frame's planes as a graph reads them, and the memory of a copy where there is one.
struct BoundPlanes {
  std::vector<npu::Tensor> planes;
  /// Of each dimension of each plane, for a graph that takes any; empty: as it was compiled.
  std::vector<std::vector<std::size_t>> strides_bytes;
  std::shared_ptr<const npu::Tensor> copy;
  InputPath path = InputPath::kCopied;
};

/// A frame on its way through the NPU. Started by the streaming thread, finished by the output
/// task; whoever drops it waits for the NPU first, so the frame's memory outlives its reading.
class Inference {
 public:
  /// Submits at once. Throws npu::Error when that fails.
  Inference(BufferRef buffer, std::shared_ptr<Graph> graph, BoundPlanes planes,
            TensorRecycler& outputs);
  ~Inference();
  Inference(const Inference&) = delete;
  Inference& operator=(const Inference&) = delete;

  /// Whether npucore had to copy the planes, because the device cannot reach their memory any more.
  bool was_copied() const { return was_copied_; }
  /// Waits for the NPU. Throws npu::Error when the inference failed.
  void wait();
  /// After wait(): the frame with its tensors and GstNpuInferenceMeta; on a shallow copy where
  /// others hold the buffer too.
  BufferRef finish(const std::string& model_file);
  /// Instead, where the inference failed: the frame as it came.
  BufferRef give_up() { return std::move(buffer_); }
  /// From submit to when wait() found it done.
  guint64 elapsed_ns() const { return elapsed_ns_; }

 private:
  BufferRef buffer_;
  std::shared_ptr<Graph> graph_;
  BoundPlanes planes_;
  std::vector<std::shared_ptr<const npu::Tensor>> outputs_;
  npu::Request request_;
  gint64 submitted_us_ = 0;
  guint64 elapsed_ns_ = 0;
  bool was_copied_ = false;
  bool in_flight_ = false;
  bool failed_ = false;
};

}  // namespace gstnpu
