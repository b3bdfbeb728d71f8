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

Json to_json(const ReadClass& found) {
  Json json;
  json["label"] = found.label;
  json["label_id"] = or_null(found.label_id);
  json["confidence"] = found.confidence ? Json(rounded(*found.confidence, 1e6)) : Json(nullptr);
  if (!found.attribute.empty()) {
    json["attribute"] = found.attribute;
  }
  return json;
}

Json to_json(const ReadKeyPoint& point) {
  return {pixels(point.x), pixels(point.y), rounded(point.confidence, 1e6)};
}

Json to_json(const ReadOriented& box) {
  Json json;
  json["x"] = pixels(box.x);
  json["y"] = pixels(box.y);
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

Json to_json(const ReadMask& mask) {
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

Json to_json(const Region& region) {
  Json json;
  json["label"] = region.label;
  json["label_id"] = or_null(region.label_id);
  json["confidence"] = region.confidence ? Json(rounded(*region.confidence, 1e6)) : Json(nullptr);
  json["x"] = pixels(region.x);
  json["y"] = pixels(region.y);
  json["w"] = pixels(region.width);
  json["h"] = pixels(region.height);
  if (region.tracking_id) {
    json["tracking_id"] = *region.tracking_id;
  }
  if (!region.classes.empty()) {
    json["classifications"] = to_array(region.classes);
  }
  if (region.oriented) {
    json["oriented"] = to_json(*region.oriented);
  }
  if (!region.key_points.empty()) {
    json["keypoints"] = to_array(region.key_points);
  }
  if (region.mask) {
    json["mask"] = to_json(*region.mask);
  }
  if (region.anomaly) {
    json["anomaly"] = rounded(*region.anomaly, 1e6);
  }
  if (!region.embedding.empty()) {
    json["embedding"] = to_json(region.embedding);
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

void add_place(const MapPlace& place, const std::optional<npu::vision::FrameSize>& frame,
               Json& json) {
  const auto across = [&](double share) {
    return frame ? pixels(share * frame->width) : Json(nullptr);
  };
  const auto down = [&](double share) {
    return frame ? pixels(share * frame->height) : Json(nullptr);
  };
  json["x"] = across(place.left);
  json["y"] = down(place.top);
  json["w"] = across(place.right - place.left);
  json["h"] = down(place.bottom - place.top);
}

Json to_json(const MapRecord& map, const std::optional<npu::vision::FrameSize>& frame) {
  Json json;
  json["type"] = map.type;
  json["width"] = map.columns;
  json["height"] = map.rows;
  add_place(map.place, frame, json);
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
    Json& owner = map.region ? json["detections"][*map.region] : json;
    owner["maps"].push_back(to_json(map, record.size));
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

void add_results(const FrameResults& results, Json& json) {
  if (!results.classes.empty()) {
    json["classifications"] = to_array(results.classes);
  }
  if (results.anomaly) {
    json["anomaly"] = rounded(*results.anomaly, 1e6);
  }
  if (!results.embedding.empty()) {
    json["embedding"] = to_json(results.embedding);
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
  json["detections"] = to_array(record.regions);
  add_results(record.results, json);
  add_maps(record, json);
  add_counts(record.counts, json);
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
  record.results = read_results(buffer);
  record.regions = read_regions(buffer, size);
  record.counts = read_counts(buffer);
  if (with_tensors) {
    record.tensors = read_tensors(buffer);
  }
  return record;
}

}  // namespace gstnpu
