#include "plugin/inference.hpp"

#include <npucore/error.hpp>

#include "plugin/allocator.hpp"
#include "plugin/log.hpp"

namespace gstnpu {

Inference::Inference(BufferRef buffer, std::shared_ptr<Graph> graph, BoundPlanes planes,
                     TensorRecycler& outputs)
    : buffer_(std::move(buffer)),
      graph_(std::move(graph)),
      planes_(std::move(planes)),
      request_(graph_->take_request(planes_.planes.front().data())) {
  // A model of grey pictures reads the first plane only.
  for (std::size_t p = 0; p < graph_->plane_inputs().size(); ++p) {
    if (planes_.strides_bytes.empty()) {
      request_.set_input(graph_->plane_inputs()[p], planes_.planes[p]);
    } else {
      request_.set_input(graph_->plane_inputs()[p], planes_.planes[p], planes_.strides_bytes[p]);
    }
  }
  for (std::size_t i = 0; i < graph_->outputs().size(); ++i) {
    outputs_.push_back(outputs.take(graph_->output_bytes()[i]));
    request_.set_output(i, *outputs_.back());
  }
  submitted_us_ = g_get_monotonic_time();
  const std::uint64_t copies = request_.copies();
  request_.submit();
  in_flight_ = true;
  was_copied_ = request_.copies() != copies;
}

Inference::~Inference() {
  if (in_flight_) {
    try {
      wait();
    } catch (const std::exception& error) {
      GST_CAT_INFO(gstnpu_debug, "a dropped frame's inference failed: %s", error.what());
    }
  }
  if (!failed_) graph_->give_back(std::move(request_), planes_.planes.front().data());
}

void Inference::wait() {
  in_flight_ = false;
  failed_ = true;
  request_.wait();
  failed_ = false;
  elapsed_ns_ = static_cast<guint64>(g_get_monotonic_time() - submitted_us_) * 1000;
}

BufferRef Inference::finish(const std::string& model_file) {
  BufferRef frame(gst_buffer_make_writable(buffer_.release()));
  std::vector<GstNpuTensor> tensors = graph_->outputs();
  std::vector<MemoryRef> memories;
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    memories.push_back(wrap_output(std::move(outputs_[i]), graph_->output_bytes()[i]));
    tensors[i].memory = memories.back().get();
  }
  gst_npu_buffer_add_tensors(frame.get(), tensors.data(), static_cast<guint>(tensors.size()));

  GstNpuInferenceMeta* meta = gst_buffer_add_npu_inference_meta(frame.get(), model_file.c_str());
  const npu::FrameGeometry& geometry = graph_->geometry();
  meta->model_width = geometry.model_width;
  meta->model_height = geometry.model_height;
  meta->offset_x = geometry.offset_x;
  meta->offset_y = geometry.offset_y;
  meta->scale_x = geometry.scale_x;
  meta->scale_y = geometry.scale_y;
  meta->inference_ns = elapsed_ns_;
  if (!graph_->labels().empty()) meta->labels = g_strdup(graph_->labels().c_str());
  return frame;
}

}  // namespace gstnpu
