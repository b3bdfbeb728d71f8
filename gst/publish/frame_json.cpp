#include "frame_json.hpp"

#include <cmath>
#include <nlohmann/json.hpp>

#include "meta/npumeta.h"

namespace gstnpu {
namespace {

using Json = nlohmann::ordered_json;

Json rounded(double value, double steps_per_unit) {
  return std::round(value * steps_per_unit) / steps_per_unit;
}

Json pixels(double value) {
  return rounded(value, 100);
}

template <typename Value>
Json or_null(const std::optional<Value>& value) {
  return value ? Json(*value) : Json(nullptr);
}

Json to_json(const ObjectClass& found) {
  Json json;
  json["label"] = found.label;
  json["label_id"] = or_null(found.label_id);
  json["confidence"] = found.confidence ? rounded(*found.confidence, 1e6) : Json(nullptr);
  return json;
}

template <typename Item>
Json to_array(const std::vector<Item>& items);

Json to_json(const Region& region) {
  Json json;
  json["label"] = region.label;
  json["label_id"] = or_null(region.label_id);
  json["confidence"] = region.confidence ? rounded(*region.confidence, 1e6) : Json(nullptr);
  json["x"] = pixels(region.x);
  json["y"] = pixels(region.y);
  json["w"] = pixels(region.width);
  json["h"] = pixels(region.height);
  if (!region.classes.empty()) {
    json["classifications"] = to_array(region.classes);
  }
  return json;
}

Json to_json(const FrameRecord::Tensor& tensor) {
  Json json;
  json["name"] = tensor.name;
  json["type"] = tensor.type;
  json["shape"] = tensor.shape;
  return json;
}

template <typename Item>
Json to_array(const std::vector<Item>& items) {
  Json array = Json::array();
  for (const Item& item : items) array.push_back(to_json(item));
  return array;
}

std::vector<FrameRecord::Tensor> read_tensors(GstBuffer* buffer) {
  std::vector<FrameRecord::Tensor> tensors;
  GstNpuTensor tensor;
  for (guint i = 0; gst_npu_buffer_get_tensor(buffer, i, &tensor); ++i) {
    tensors.push_back({.name = tensor.name != nullptr ? tensor.name : "",
                       .type = gst_npu_data_type_name(tensor.type),
                       .shape = {tensor.dims, tensor.dims + tensor.num_dims}});
  }
  return tensors;
}

}  // namespace

std::string to_json_line(const FrameRecord& record) {
  Json json;
  json["frame"] = record.frame;
  json["pts"] = or_null(record.pts_ns);
  json["width"] = record.size ? Json(record.size->width) : Json(nullptr);
  json["height"] = record.size ? Json(record.size->height) : Json(nullptr);
  json["model"] = or_null(record.model);
  json["inference_ms"] = record.inference_ns
                             ? rounded(static_cast<double>(*record.inference_ns) / 1e6, 1e3)
                             : Json(nullptr);
  json["detections"] = to_array(record.regions);
  if (record.tensors) {
    json["tensors"] = to_array(*record.tensors);
  }
  // File names and labels may hold any bytes; the line is UTF-8 whatever they are.
  return json.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
}

FrameRecord read_frame(GstBuffer* buffer, std::optional<FrameSize> size, bool with_tensors) {
  FrameRecord record;
  record.size = size;
  if (GST_BUFFER_PTS_IS_VALID(buffer)) {
    record.pts_ns = GST_BUFFER_PTS(buffer);
  }
  if (const GstNpuInferenceMeta* meta = gst_buffer_get_npu_frame_inference_meta(buffer)) {
    if (meta->model != nullptr) {
      record.model = meta->model;
    }
    record.inference_ns = meta->inference_ns;
  }
  record.regions = read_regions(buffer, size);
  if (with_tensors) {
    record.tensors = read_tensors(buffer);
  }
  return record;
}

}  // namespace gstnpu
