#include <cmath>
#include <map>
#include <string_view>

#include "frame_json.hpp"
#include "json_text.hpp"

namespace gstnpu {
namespace {

using SortedJson = nlohmann::json;  // by key, as DL Streamer's is
using npu::vision::FrameSize;

constexpr double kMostPixels = 1e15;  // which all readers' numbers hold

SortedJson edges(const FoundObject& object, FrameSize frame) {
  return {{"x_min", rounded(object.x / frame.width, kUnitSteps)},
          {"x_max", rounded((object.x + object.width) / frame.width, kUnitSteps)},
          {"y_min", rounded(object.y / frame.height, kUnitSteps)},
          {"y_max", rounded((object.y + object.height) / frame.height, kUnitSteps)}};
}

/// Label of an object, or of a class that a model gave.
template <typename Labelled>
SortedJson label_of(const Labelled& found) {
  SortedJson json = SortedJson::object();
  add(json, "label", found.label);
  add(json, "label_id", found.label_id);
  add(json, "confidence", found.confidence, in_units);
  return json;
}

/// Each under a key of its own, by what it is of: "color", "classification", "classification_2" and
/// so on.
void add_classes(const std::vector<FoundClass>& classes, SortedJson& json) {
  std::map<std::string, int> numbers;  // of the last class of each
  for (const FoundClass& found : classes) {
    const std::string name = found.attribute.empty() ? "classification" : found.attribute;
    std::string key;
    do {
      const int number = ++numbers[name];
      key = number == 1 ? name : name + "_" + std::to_string(number);
    } while (json.contains(key));
    SortedJson& one = json[key];
    one = label_of(found);
    if (!found.model.empty()) {
      one["model"]["name"] = found.model;
    }
  }
}

/// Null: no number that could be a pixel's.
SortedJson whole(double value) {
  return std::abs(value) < kMostPixels ? SortedJson(std::llround(value)) : SortedJson(nullptr);
}

/// Edges to the nearest pixel.
void add_pixels(const FoundObject& object, SortedJson& json) {
  const double left = std::round(object.x), top = std::round(object.y);
  json["x"] = whole(left);
  json["y"] = whole(top);
  json["w"] = whole(std::round(object.x + object.width) - left);
  json["h"] = whole(std::round(object.y + object.height) - top);
}

SortedJson to_json(const FoundObject& object, const std::optional<FrameSize>& frame) {
  SortedJson json;
  add_pixels(object, json);
  json["detection"] = label_of(object);
  if (frame) {
    json["detection"]["bounding_box"] = edges(object, *frame);
  }
  add(json, "roi_type", object.label);
  if (object.region_id || object.analytics_id) {
    json["region_id"] = object.id();
  }
  add(json, "id", object.identity, &Identity::id);
  add_classes(object.classes, json);
  return json;
}

/// Puts results of the whole frame into an object as large as the frame.
SortedJson whole_frame(const FrameRecord& record) {
  const FrameSize size = record.size.value_or(FrameSize{0, 0});
  SortedJson json{{"x", 0}, {"y", 0}, {"w", size.width}, {"h", size.height}};
  add_classes(record.answer->classes, json);
  return json;
}

std::string precision_of(const std::string& type) {
  static const std::map<std::string_view, const char*> precisions = {
      {"float16", "FP16"}, {"float32", "FP32"}, {"float64", "FP64"}, {"bfloat16", "BF16"},
      {"int8", "I8"},      {"int16", "I16"},    {"int32", "I32"},    {"int64", "I64"},
      {"uint8", "U8"},     {"uint16", "U16"},   {"uint32", "U32"},   {"uint64", "U64"}};
  const auto found = precisions.find(type);
  return found != precisions.end() ? found->second : type;
}

SortedJson to_json(const FrameRecord::Tensor& tensor, const std::optional<std::string>& model) {
  SortedJson json{{"layer_name", tensor.name},
                  {"precision", precision_of(tensor.type)},
                  {"dims", tensor.shape}};
  add(json, "model_name", model);
  return json;
}

}  // namespace

std::string to_dlstreamer_line(const FrameRecord& record) {
  SortedJson json = SortedJson::object();
  if (record.size) {
    json["resolution"] = {{"width", record.size->width}, {"height", record.size->height}};
  }
  add(json, "source", record.stream);
  add(json, "timestamp", record.stream_time_ns);
  add(json, "system_timestamp", record.time);
  for (const FoundObject& object : record.answer->objects) {
    json["objects"].push_back(to_json(object, record.size));
  }
  if (!record.answer->classes.empty()) {
    json["objects"].push_back(whole_frame(record));
  }
  if (record.tensors && !record.tensors->empty()) {
    SortedJson& tensors = json["tensors"] = SortedJson::array();
    for (const auto& tensor : *record.tensors) tensors.push_back(to_json(tensor, record.model));
  }
  return to_line(json);
}

}  // namespace gstnpu
