#include "frame_json.hpp"

#include <algorithm>
#include <utility>

#include <npuvision/labels.hpp>

#include "answers/map_contents.hpp"
#include "meta/npumeta.h"

#include "json_text.hpp"

namespace gstnpu {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::size_t kMostClasses = 256;  // of a map
constexpr double kPixelSteps = 100, kSecondSteps = 1e3;

template <typename Value>
Json or_null(const std::optional<Value>& value) {
  return value ? Json(*value) : Json(nullptr);
}

template <typename Item>
Json to_array(const std::vector<Item>& items);

/// Adds a list that is not empty.
template <typename Item>
void add_list(Json& json, const char* key, const std::vector<Item>& items) {
  if (!items.empty()) {
    json[key] = to_array(items);
  }
}

void add_box(Json& json, double x, double y, double width, double height) {
  json["x"] = rounded(x, kPixelSteps);
  json["y"] = rounded(y, kPixelSteps);
  json["w"] = rounded(width, kPixelSteps);
  json["h"] = rounded(height, kPixelSteps);
}

template <typename Found>
void add_label(Json& json, const Found& found) {
  json["label"] = found.label;
  json["label_id"] = or_null(found.label_id);
  json["confidence"] = rounded(found.confidence, kUnitSteps);
}

/// Adds what anomaly and embedding models say of an object, or of the frame.
template <typename Found>
void add_values(Json& json, const Found& found) {
  add(json, "anomaly", found.anomaly, in_units);
  add_list(json, "embedding", found.embedding);
}

Json to_json(float value) {
  return rounded(value, kUnitSteps);
}

Json to_json(const FoundClass& found) {
  Json json;
  add_label(json, found);
  add(json, "attribute", found.attribute);
  return json;
}

Json to_json(const npu::vision::KeyPoint& point) {
  return {rounded(point.x, kPixelSteps), rounded(point.y, kPixelSteps),
          rounded(point.confidence, kUnitSteps)};
}

Json to_json(const npu::vision::OrientedBox& box) {
  Json json;
  add_box(json, box.center_x, box.center_y, box.width, box.height);
  json["angle"] = rounded(box.angle, kUnitSteps);
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
  add_box(json, mask.x, mask.y, mask.width, mask.height);
  json["size"] = {mask.rows, mask.columns};
  json["counts"] = run_lengths(mask.values);
  return json;
}

constexpr auto as_json = [](const auto& value) { return to_json(value); };

Json to_json(const FoundObject& object) {
  Json json;
  add_label(json, object);
  add_box(json, object.x, object.y, object.width, object.height);
  add(json, "tracking_id", object.identity, &Identity::id);
  add_list(json, "classifications", object.classes);
  add(json, "oriented", object.oriented, as_json);
  add_list(json, "keypoints", object.key_points);
  add(json, "mask", object.mask, as_json);
  add_values(json, object);
  return json;
}

Json to_json(const npu::vision::ZoneCount::Inside& inside) {
  return {{"tracking_id", inside.id}, {"seconds", rounded(inside.seconds, kSecondSteps)}};
}

Json to_json(const npu::vision::ZoneCount& zone) {
  return {{"name", zone.name},
          {"inside", to_array(zone.inside)},
          {"entered", zone.entered},
          {"left", zone.left},
          {"mean_seconds", rounded(zone.mean_seconds(), kSecondSteps)}};
}

Json to_json(const npu::vision::LineCount& line) {
  return {{"name", line.name}, {"forward", line.forward}, {"backward", line.backward}};
}

Json to_json(const npu::vision::CountEvent& event) {
  Json json{{"event", to_string(event.kind)}, {"place", event.place}, {"tracking_id", event.id}};
  add(json, "seconds", event.seconds,
      [](double seconds) { return rounded(seconds, kSecondSteps); });
  return json;
}

Json to_json(const FrameRecord::Tensor& tensor) {
  return {{"name", tensor.name}, {"type", tensor.type}, {"shape", tensor.shape}};
}

template <typename Item>
Json to_array(const std::vector<Item>& items) {
  Json array = Json::array();
  for (const Item& item : items) array.push_back(to_json(item));
  return array;
}

// ---- Maps, in a few words: their pixels are in the metadata alone

/// Without the frame's size nobody knows the map's place.
template <typename Value>
Json map_json(const char* type, const npu::vision::Map<Value>& map, const FrameArea& area,
              bool is_place_known) {
  Json json{{"type", type}, {"width", map.width}, {"height", map.height}};
  if (is_place_known) {
    add_box(json, area.left, area.top, area.width(), area.height());
  } else {
    add_box(json, NAN, NAN, NAN, NAN);
  }
  return json;
}

/// The share of each class, the largest first.
Json shares_of(const FoundMap& map) {
  const std::vector<guint16>& values = map.classes.values;
  Json shares = Json::array();
  for (const auto& [id, count] : largest_of(counted(values), kMostClasses)) {
    const double share = static_cast<double>(count) / static_cast<double>(values.size());
    shares.push_back({{"label", npu::vision::label_of(map.names(), id)},
                      {"label_id", id},
                      {"share", rounded(share, kUnitSteps)}});
  }
  return shares;
}

void add_map(Json& owner, const FoundMap& map, bool is_place_known) {
  if (!map.classes.empty()) {
    Json json = map_json("classes", map.classes, map.area, is_place_known);
    json["classes"] = shares_of(map);
    owner["maps"].push_back(std::move(json));
  }
  if (!map.values.empty()) {
    Json json =
        map_json(map.is_anomaly ? "anomaly" : "depth", map.values, map.area, is_place_known);
    const ValueRange range = range_of(map.values.values).value_or(ValueRange{NAN, NAN, NAN});
    json["min"] = rounded(range.least, kUnitSteps);
    json["max"] = rounded(range.most, kUnitSteps);
    json["mean"] = rounded(range.mean, kUnitSteps);
    owner["maps"].push_back(std::move(json));
  }
}

/// Those of objects go to their detections.
void add_maps(Json& json, const FrameAnswer& answer, bool is_place_known) {
  for (const FoundMap& map : answer.maps) {
    Json* owner = &json;
    if (map.object_id) {
      const auto object =
          std::find_if(answer.objects.begin(), answer.objects.end(),
                       [&](const FoundObject& one) { return map.object_id == one.id(); });
      if (object == answer.objects.end()) continue;
      owner = &json["detections"][static_cast<std::size_t>(object - answer.objects.begin())];
    }
    add_map(*owner, map, is_place_known);
  }
}

void add_counts(Json& json, const FrameCounts& counts) {
  if (counts.empty()) return;
  json["zones"] = to_array(counts.zones);
  json["lines"] = to_array(counts.lines);
  json["events"] = to_array(counts.events);
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
  const FrameAnswer& answer = *record.answer;
  Json json;
  json["frame"] = record.frame;
  add(json, "stream", record.stream);
  add(json, "time", record.time);
  json["pts"] = or_null(record.pts_ns);
  json["width"] = record.size ? Json(record.size->width) : Json(nullptr);
  json["height"] = record.size ? Json(record.size->height) : Json(nullptr);
  json["model"] = or_null(record.model);
  json["inference_ms"] = record.inference_ns
                             ? Json(rounded(static_cast<double>(*record.inference_ns) / 1e6, 1e3))
                             : Json(nullptr);
  json["detections"] = to_array(answer.objects);
  add_list(json, "classifications", answer.classes);
  add_values(json, answer);
  add_maps(json, answer, record.size.has_value());
  add_counts(json, answer.counts);
  add(json, "tensors", record.tensors, to_array<FrameRecord::Tensor>);
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
