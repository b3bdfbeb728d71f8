#include "inference.hpp"

#include <gst/video/gstvideometa.h>

#include <array>
#include <memory_resource>

#include <npucore/error.hpp>

#include "common/log.hpp"
#include "frames/allocator.hpp"

namespace gstnpu {
namespace {

/// Memory for one function's temporaries: no heap allocation while they are small.
class StackMemory {
 public:
  std::pmr::memory_resource* get() { return &memory_; }

 private:
  std::array<std::byte, 4096> bytes_;
  std::pmr::monotonic_buffer_resource memory_{bytes_.data(), bytes_.size()};
};

void note_crop(GstBuffer* buffer, GstNpuInferenceMeta* meta) {
  if (const GstVideoCropMeta* crop = gst_buffer_get_video_crop_meta(buffer)) {
    meta->crop_x = crop->x;
    meta->crop_y = crop->y;
  }
}

void note_region(const InferredRegion& region, GstNpuInferenceMeta* meta) {
  meta->is_region = TRUE;
  meta->object_id = region.object.object_id;
  meta->region_x = region.read.x;
  meta->region_y = region.read.y;
  meta->region_w = region.read.width;
  meta->region_h = region.read.height;
}

}  // namespace

Inference::Inference(BufferRef buffer, std::shared_ptr<Graph> graph, BoundPlanes planes,
                     TensorRecycler& outputs, const std::shared_ptr<Backlog>& backlog,
                     FenceWatch& watch, const InferredRegion* region)
    : buffer_(std::move(buffer)),
      region_(region ? std::optional(*region) : std::nullopt),
      graph_(std::move(graph)),
      planes_(std::move(planes)),
      request_(graph_->take_request(planes_.key)) {
  outputs_.reserve(graph_->output_bytes().size());
  for (const gsize bytes : graph_->output_bytes()) outputs_.push_back(outputs.take(bytes));
  was_copied_ = submit(backlog, watch) > 0;
  time_.submitted_ns = request_->submitted_ns();
  in_flight_ = true;
}

/// Submits all planes and outputs at once. A grey model reads the first plane only.
std::uint64_t Inference::submit(const std::shared_ptr<Backlog>& backlog, FenceWatch& watch) {
  OfPlanes<npu::PortBinding> inputs;
  StackMemory memory;
  std::pmr::vector<npu::PortBinding> outputs(memory.get());
  outputs.reserve(outputs_.size());
  for (std::size_t p = 0; p < graph_->plane_inputs().size(); ++p) {
    const BoundPlane& plane = planes_.planes[p];
    npu::PortBinding& input = inputs.push_back(
        {graph_->plane_inputs()[p], &plane.memory, plane.offset_bytes, plane.size_bytes});
    if (plane.strides_bytes.back() != 0) {
      input.strides_bytes = plane.strides_bytes;
    }
  }
  for (std::size_t i = 0; i < outputs_.size(); ++i) {
    outputs.push_back({i, &outputs_[i]->tensor});
  }
  return request_->submit({inputs, outputs}, backlog, watch);
}

Inference::~Inference() {
  if (in_flight_) {
    try {
      wait();
    } catch (const std::exception& error) {
      GST_CAT_INFO(gstnpu_debug, "a dropped frame's inference failed: %s", error.what());
    }
  }
  if (!failed_) {
    graph_->give_back(std::move(request_), planes_.key);
  }
}

void Inference::wait() {
  in_flight_ = false;
  failed_ = true;
  request_->wait();
  failed_ = false;
  time_ = request_->time();
}

InferenceResult Inference::take_result() {
  return {graph_,  std::move(outputs_), time_,        planes_.geometry.value_or(graph_->geometry()),
          region_, frame_width_,        frame_height_};
}

BufferRef Inference::finish() {
  BufferRef frame(gst_buffer_make_writable(buffer_.release()));
  attach(frame.get(), take_result());
  return frame;
}

BufferRef Inference::finish_as_tensors() {
  BufferRef tensors(gst_buffer_new());
  gst_buffer_copy_into(tensors.get(), buffer_.get(), GST_BUFFER_COPY_TIMESTAMPS, 0, 0);
  buffer_.reset();
  for (std::size_t i = 0; i < outputs_.size(); ++i) {
    gst_buffer_append_memory(
        tensors.get(), wrap_output(std::move(outputs_[i]), graph_->output_bytes()[i]).release());
  }
  return tensors;
}

void attach(GstBuffer* buffer, InferenceResult result) {
  const Graph& graph = *result.graph;
  StackMemory memory;
  std::pmr::vector<GstNpuTensor> tensors(graph.outputs().begin(), graph.outputs().end(),
                                         memory.get());
  std::pmr::vector<MemoryRef> memories(memory.get());
  memories.reserve(tensors.size());
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    memories.push_back(wrap_output(std::move(result.outputs[i]), graph.output_bytes()[i]));
    tensors[i].memory = memories.back().get();
    GST_MINI_OBJECT_FLAG_SET(tensors[i].memory, GST_NPU_MEMORY_FLAG_OF_FRAME);
  }
  const guint id = gst_npu_buffer_next_inference_id(buffer);
  gst_npu_buffer_add_inference_tensors(buffer, id, tensors.data(),
                                       static_cast<guint>(tensors.size()));

  GstNpuInferenceMeta* meta = gst_buffer_add_npu_inference_meta(buffer, graph.file().c_str());
  meta->inference_id = id;
  meta->model_width = result.geometry.model_width;
  meta->model_height = result.geometry.model_height;
  meta->offset_x = result.geometry.offset_x;
  meta->offset_y = result.geometry.offset_y;
  meta->scale_x = result.geometry.scale_x;
  meta->scale_y = result.geometry.scale_y;
  meta->inference_ns = result.time.elapsed_ns();
  if (!graph.labels().empty()) {
    meta->labels = g_strdup(graph.labels().c_str());
  }
  meta->card = g_ref_string_acquire(graph.card());
  meta->frame_width = result.frame_width;
  meta->frame_height = result.frame_height;
  note_crop(buffer, meta);
  if (result.region) {
    note_region(*result.region, meta);
  }
  gst_buffer_keep_npu_inference_origin(buffer, meta);
}

}  // namespace gstnpu
