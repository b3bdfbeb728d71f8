#include "frame_json.hpp"

#include <utility>

#include "meta/npumeta.h"

#include "json_text.hpp"

namespace gstnpu {
namespace {

using Json = nlohmann::ordered_json;

Json pixels(double value) {
  return rounded(value, 100);
}

template <typename Value>
Json or_null(const std::optional<Value>& value) {
  return value ? Json(*value) : Json(nullptr);
}

Json to_json(const FoundClass& found) {
  Json json;
  json["label"] = found.label;
  json["label_id"] = or_null(found.label_id);
  json["confidence"] = found.confidence ? Json(rounded(*found.confidence, 1e6)) : Json(nullptr);
  if (!found.attribute.empty()) {
    json["attribute"] = found.attribute;
  }
  return json;
}

Json to_json(const npu::vision::KeyPoint& point) {
  return {pixels(point.x), pixels(point.y), rounded(static_cast<double>(point.confidence), 1e6)};
}

Json to_json(const npu::vision::OrientedBox& box) {
  Json json;
  json["x"] = pixels(box.center_x);
  json["y"] = pixels(box.center_y);
  json["w"] = pixels(box.width);
  json["h"] = pixels(box.height);
  json["angle"] = rounded(box.angle, 1e6);
  return json;
}

/// Runs of equal values, row by row; the first is of pixels outside the object.
Json run_lengths(const std::vector<guint8>& values) {
  Json runs = Json::array();
  bool is_inside = false;
  std::size_t run = 0;
  for (const guint8 value : values) {
    if ((value != 0) != is_inside) {
      runs.push_back(std::exchange(run, 0));
      is_inside = !is_inside;
    }
    ++run;
  }
  runs.push_back(run);
  return runs;
}

Json to_json(const FoundMask& mask) {
  Json json;
  json["x"] = pixels(mask.x);
  json["y"] = pixels(mask.y);
  json["w"] = pixels(mask.width);
  json["h"] = pixels(mask.height);
  json["size"] = {mask.rows, mask.columns};
  json["counts"] = run_lengths(mask.values);
  return json;
}

Json to_json(const std::vector<float>& embedding) {
  Json array = Json::array();
  for (const float value : embedding) array.push_back(rounded(value, 1e6));
  return array;
}

template <typename Item>
Json to_array(const std::vector<Item>& items);

Json to_json(const FoundObject& object) {
  Json json;
  json["label"] = object.label;
  json["label_id"] = or_null(object.label_id);
  json["confidence"] = object.confidence ? Json(rounded(*object.confidence, 1e6)) : Json(nullptr);
  json["x"] = pixels(object.x);
  json["y"] = pixels(object.y);
  json["w"] = pixels(object.width);
  json["h"] = pixels(object.height);
  if (object.identity) {
    json["tracking_id"] = object.identity->id;
  }
  if (!object.classes.empty()) {
    json["classifications"] = to_array(object.classes);
  }
  if (object.oriented) {
    json["oriented"] = to_json(*object.oriented);
  }
  if (!object.key_points.empty()) {
    json["keypoints"] = to_array(object.key_points);
  }
  if (object.mask) {
    json["mask"] = to_json(*object.mask);
  }
  if (object.anomaly) {
    json["anomaly"] = rounded(*object.anomaly, 1e6);
  }
  if (!object.embedding.empty()) {
    json["embedding"] = to_json(object.embedding);
  }
  return json;
}

Json to_json(const FrameCounts::Zone& zone) {
  Json json;
  json["name"] = zone.name;
  json["inside"] = Json::array();
  for (const auto& inside : zone.inside) {
    json["inside"].push_back(
        {{"tracking_id", inside.id}, {"seconds", rounded(inside.seconds, 1e3)}});
  }
  json["entered"] = zone.entered;
  json["left"] = zone.left;
  json["mean_seconds"] = zone.mean_seconds ? Json(rounded(*zone.mean_seconds, 1e3)) : Json(nullptr);
  return json;
}

Json to_json(const FrameCounts::Line& line) {
  return {{"name", line.name}, {"forward", line.forward}, {"backward", line.backward}};
}

Json to_json(const FrameCounts::Event& event) {
  Json json{{"event", event.kind}, {"place", event.place}, {"tracking_id", event.id}};
  if (event.seconds) {
    json["seconds"] = rounded(*event.seconds, 1e3);
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

Json to_json(const MapRecord::Share& one) {
  return {{"label", one.label}, {"label_id", one.label_id}, {"share", rounded(one.share, 1e6)}};
}

template <typename Item>
Json to_array(const std::vector<Item>& items) {
  Json array = Json::array();
  for (const Item& item : items) array.push_back(to_json(item));
  return array;
}

void add_place(const FrameArea& area, bool is_known, Json& json) {
  const auto number = [is_known](double value) { return is_known ? pixels(value) : Json(nullptr); };
  json["x"] = number(area.left);
  json["y"] = number(area.top);
  json["w"] = number(area.width());
  json["h"] = number(area.height());
}

Json to_json(const MapRecord& map, bool is_place_known) {
  Json json;
  json["type"] = map.type;
  json["width"] = map.columns;
  json["height"] = map.rows;
  add_place(map.area, is_place_known, json);
  if (map.type == "classes") {
    json["classes"] = to_array(map.classes);
    return json;
  }
  const auto number = [&](auto value) {
    return map.range ? Json(rounded(static_cast<double>(value), 1e6)) : Json(nullptr);
  };
  const ValueRange range = map.range.value_or(ValueRange{});
  json["min"] = number(range.least);
  json["max"] = number(range.most);
  json["mean"] = number(range.mean);
  return json;
}

/// Those of objects go to their detections.
void add_maps(const FrameRecord& record, Json& json) {
  for (const MapRecord& map : record.maps) {
    Json& owner = map.object ? json["detections"][*map.object] : json;
    owner["maps"].push_back(to_json(map, record.size.has_value()));
  }
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

void add_counts(const FrameCounts& counts, Json& json) {
  if (counts.empty()) return;
  json["zones"] = to_array(counts.zones);
  json["lines"] = to_array(counts.lines);
  json["events"] = to_array(counts.events);
}

void add_results(const FrameAnswer& answer, Json& json) {
  if (!answer.classes.empty()) {
    json["classifications"] = to_array(answer.classes);
  }
  if (answer.anomaly) {
    json["anomaly"] = rounded(*answer.anomaly, 1e6);
  }
  if (!answer.embedding.empty()) {
    json["embedding"] = to_json(answer.embedding);
  }
}

}  // namespace

std::string to_json_line(const FrameRecord& record) {
  Json json;
  json["frame"] = record.frame;
  if (record.stream) {
    json["stream"] = *record.stream;
  }
  if (record.time) {
    json["time"] = *record.time;
  }
  json["pts"] = or_null(record.pts_ns);
  json["width"] = record.size ? Json(record.size->width) : Json(nullptr);
  json["height"] = record.size ? Json(record.size->height) : Json(nullptr);
  json["model"] = or_null(record.model);
  json["inference_ms"] = record.inference_ns
                             ? Json(rounded(static_cast<double>(*record.inference_ns) / 1e6, 1e3))
                             : Json(nullptr);
  json["detections"] = to_array(record.answer->objects);
  add_results(*record.answer, json);
  add_maps(record, json);
  add_counts(record.answer->counts, json);
  if (record.tensors) {
    json["tensors"] = to_array(*record.tensors);
  }
  return to_line(json);
}

FrameRecord read_frame(GstBuffer* buffer, std::optional<npu::vision::FrameSize> size,
                       bool with_tensors) {
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
  record.answer = read_answer(buffer, size);
  if (with_tensors) {
    record.tensors = read_tensors(buffer);
  }
  return record;
}

}  // namespace gstnpu
