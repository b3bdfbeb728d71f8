#pragma once

#include <array>
#include <memory>
#include <string>
#include <vector>

#include <npucore/tensor.hpp>

#include "common/refs.hpp"
#include "frames/copy_cause.hpp"
#include "frames/region_copy.hpp"
#include "frames/tensor_recycler.hpp"
#include "graphs/graph.hpp"

namespace gstnpu {

/// A frame's plane as a graph reads it.
struct BoundPlane {
  npu::Tensor memory;
  gsize offset_bytes = 0;
  gsize size_bytes = 0;
  /// One for each dimension, for a graph that takes any strides; zeros: the compiled strides.
  std::array<std::size_t, 4> strides_bytes = {};
};

/// A frame's planes, and the memory of a copy where there is one.
struct BoundPlanes {
  OfPlanes<BoundPlane> planes;
  Graph::MemoryKey key;  ///< tells the frame's memory from others
  DeviceMemoryRef copy;
  InputPath path = InputPath::kCopied;
  /// The model's rectangle in the frame, if the graph does not know it.
  std::optional<npu::FrameGeometry> geometry;
};

/// Names the object on the buffer that a region belongs to.
struct ObjectLink {
  std::size_t index = 0;  ///< in the buffer's answer, with what others attached
  gint object_id = -1;    ///< FoundObject::id(), which may become another one
};

/// The part of a frame that is inferred, and its object.
struct InferredRegion {
  PixelRect read;
  ObjectLink object;
};

/// Results of one inference, to be attached to its frame.
struct InferenceResult {
  std::shared_ptr<Graph> graph;
  std::vector<DeviceMemoryRef> outputs;
  InferenceTime time;
  npu::FrameGeometry geometry;
  std::optional<InferredRegion> region;  ///< none: the whole frame
  guint frame_width = 0, frame_height = 0;
};

/// Puts tensors and GstNpuInferenceMeta on a writable buffer, beside those of other inferences.
void attach(GstBuffer* buffer, InferenceResult result);

/// A frame on its way through the NPU. Started by the streaming thread, finished by the output
/// task; whoever drops it waits for the NPU first, so the frame's memory outlives its reading.
class Inference {
 public:
  /// Submits at once; `watch` outlives it and sees its end. With a `region`, the frame's buffer is
  /// held elsewhere. Throws npu::Error when the submission fails.
  Inference(BufferRef buffer, std::shared_ptr<Graph> graph, BoundPlanes planes,
            TensorRecycler& outputs, const std::shared_ptr<Backlog>& backlog, FenceWatch& watch,
            const InferredRegion* region = nullptr);
  ~Inference();
  Inference(const Inference&) = delete;
  Inference& operator=(const Inference&) = delete;

  void note_frame_size(const npu::FrameLayout& frame) {
    frame_width_ = frame.width;
    frame_height_ = frame.height;
  }
  void note_arrival(guint64 ns) { came_ns_ = ns; }
  /// When the frame entered the element.
  guint64 came_ns() const { return came_ns_; }
  /// Whether npucore had to copy the planes because the device can no longer reach their memory.
  bool was_copied() const { return was_copied_; }
  /// Waits for the NPU. Throws npu::Error when the inference failed.
  void wait();
  const std::string& model_file() const { return graph_->file(); }
  /// After wait(): the frame with its tensors and GstNpuInferenceMeta, on a shallow copy where
  /// others hold the buffer too.
  BufferRef finish();
  /// As finish(), but gives a buffer with the frame's times that holds only the outputs' memory, in
  /// order.
  BufferRef finish_as_tensors();
  const std::shared_ptr<Graph>& graph() const { return graph_; }
  /// As finish(), but without a frame.
  InferenceResult take_result();
  /// As finish(), where the inference failed: the frame as it came.
  BufferRef give_up() { return std::move(buffer_); }
  /// Notes how long it waited for its turn before it was submitted.
  void note_turn(guint64 waited_ns) { waited_ns_ = waited_ns; }
  guint64 waited_ns() const { return waited_ns_; }
  /// After wait(). If that threw, only submitted_ns is set.
  const InferenceTime& time() const { return time_; }

 private:
  std::uint64_t submit(const std::shared_ptr<Backlog>& backlog, FenceWatch& watch);

  BufferRef buffer_;  // null for a region
  std::optional<InferredRegion> region_;
  std::shared_ptr<Graph> graph_;
  BoundPlanes planes_;
  std::vector<DeviceMemoryRef> outputs_;
  Graph::RequestRef request_;
  InferenceTime time_;
  guint64 waited_ns_ = 0;
  guint64 came_ns_ = 0;
  guint frame_width_ = 0, frame_height_ = 0;
  bool was_copied_ = false;
  bool in_flight_ = false;
  bool failed_ = false;
};

}  // namespace gstnpu
