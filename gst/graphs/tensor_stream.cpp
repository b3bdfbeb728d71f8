#include "tensor_stream.hpp"

#include <string>
#include <utility>

#include <npucore/error.hpp>

namespace gstnpu {
namespace {

constexpr std::size_t kMostTensors = 16;  // memories of a buffer; GStreamer would merge more

/// NNStreamer's name of the type; it has no booleans, which are bytes.
const char* type_name(const GstNpuTensor& tensor) {
  switch (tensor.type) {
    case GST_NPU_DATA_BOOLEAN:
      return "uint8";
    case GST_NPU_DATA_UNKNOWN:
    case GST_NPU_DATA_BF16:
      throw npu::Error(npu::ErrorCode::kUnsupported,
                       std::string("the output ") + tensor.name + " is " +
                           gst_npu_data_type_name(tensor.type) +
                           ", which other/tensors cannot name: convert it to f32 in the model, or "
                           "leave output-format at video");
    default:
      return gst_npu_data_type_name(tensor.type);
  }
}

std::string sizes_of(const GstNpuTensor& tensor) {
  std::string text;
  for (guint i = tensor.num_dims; i-- > 0;) {
    text += (text.empty() ? "" : ":") + std::to_string(tensor.dims[i]);
  }
  return text.empty() ? "1" : text;
}

}  // namespace

CapsRef any_tensor_caps() {
  return CapsRef(gst_caps_new_simple("other/tensors", "format", G_TYPE_STRING, "static", nullptr));
}

CapsRef tensor_caps(const std::vector<GstNpuTensor>& outputs, gint rate_n, gint rate_d) {
  if (outputs.size() > kMostTensors) {
    throw npu::Error(npu::ErrorCode::kUnsupported,
                     "the model has " + std::to_string(outputs.size()) +
                         " outputs, but a buffer of other/tensors has room for " +
                         std::to_string(kMostTensors) + ": leave output-format at video");
  }
  std::string types, sizes;
  for (const GstNpuTensor& tensor : outputs) {
    types += std::string(types.empty() ? "" : ",") + type_name(tensor);
    sizes += (sizes.empty() ? "" : ",") + sizes_of(tensor);
  }
  CapsRef caps = any_tensor_caps();
  gst_caps_set_simple(caps.get(), "num_tensors", G_TYPE_INT, static_cast<gint>(outputs.size()),
                      "types", G_TYPE_STRING, types.c_str(), "dimensions", G_TYPE_STRING,
                      sizes.c_str(), "framerate", GST_TYPE_FRACTION, rate_n, rate_d, nullptr);
  return caps;
}

std::vector<EventRef> TensorStream::pass(EventRef event) {
  std::vector<EventRef> out;
  switch (GST_EVENT_TYPE(event.get())) {
    case GST_EVENT_CAPS: {
      GstCaps* caps = nullptr;
      gst_event_parse_caps(event.get(), &caps);
      rate_n_ = 0;
      rate_d_ = 1;
      gst_structure_get_fraction(gst_caps_get_structure(caps, 0), "framerate", &rate_n_, &rate_d_);
      graph_.reset();
      return out;
    }
    case GST_EVENT_STREAM_START:
      break;
    case GST_EVENT_EOS:
      out = take_held();
      break;
    default:
      if (has_caps_) break;
      held_.push_back(std::move(event));
      return out;
  }
  out.push_back(std::move(event));
  return out;
}

std::vector<EventRef> TensorStream::begin(const std::shared_ptr<const Graph>& graph) {
  std::vector<EventRef> out;
  if (graph_ == graph) return out;
  const CapsRef caps = tensor_caps(graph->outputs(), rate_n_, rate_d_);
  out.emplace_back(gst_event_new_caps(caps.get()));
  for (EventRef& event : take_held()) out.push_back(std::move(event));
  graph_ = graph;
  has_caps_ = true;
  return out;
}

}  // namespace gstnpu
