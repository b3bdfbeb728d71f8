#include "found.hpp"

#include <cmath>
#include <cstring>

#include "meta/npumeta.h"

namespace npustream {
namespace {

double hundredths(double number) {
  return std::round(number * 100) / 100;
}

Json class_json(const GstNpuClass& found) {
  Json json = {{"label", found.label},
               {"label_id", found.label_id < 0 ? Json() : Json(found.label_id)}};
  json["confidence"] = found.confidence < 0 ? Json() : Json(found.confidence);
  return json;
}

Json object_json(GstBuffer* buffer, guint index) {
  GstNpuObject object = {};
  if (!gst_npu_buffer_get_object(buffer, index, &object)) return nullptr;
  Json json = class_json(object.found);
  json["x"] = hundredths(object.box.x);
  json["y"] = hundredths(object.box.y);
  json["w"] = hundredths(object.box.w);
  json["h"] = hundredths(object.box.h);
  if (object.is_tracked) {
    json["tracking_id"] = object.tracking_id;
  }
  GstNpuClass found = {};
  for (guint i = 0; gst_npu_buffer_get_class(buffer, index, i, &found); ++i)
    json["classifications"].push_back(class_json(found));
  return json;
}

}  // namespace

FoundFrame::FoundFrame(GstElement* sink) {
  if (sink) {
    g_object_get(sink, "last-sample", &sample_, nullptr);
  }
  if (!sample_) return;
  buffer_ = gst_sample_get_buffer(sample_);
  const GstCaps* const caps = gst_sample_get_caps(sample_);
  if (!caps || gst_caps_is_empty(caps)) return;
  const GstStructure* const structure = gst_caps_get_structure(caps, 0);
  gst_structure_get_int(structure, "width", &width_);
  gst_structure_get_int(structure, "height", &height_);
}

FoundFrame::~FoundFrame() {
  if (sample_) {
    gst_sample_unref(sample_);
  }
}

Json FoundFrame::counts(const std::string& kind, const std::string& place) const {
  GstNpuLine line = {};
  GstNpuZone zone = {};
  for (guint i = 0; buffer_ && kind == "lines" && gst_npu_buffer_get_line(buffer_, i, &line); ++i) {
    if (place != line.name) continue;
    return {{"name", place}, {"forward", line.forward}, {"backward", line.backward}};
  }
  for (guint i = 0; buffer_ && kind == "zones" && gst_npu_buffer_get_zone(buffer_, i, &zone); ++i) {
    if (place != zone.name) continue;
    return {{"name", place},
            {"entered", zone.entered},
            {"left", zone.left},
            {"inside", zone.inside},
            {"mean_seconds", zone.mean_seconds < 0 ? Json() : Json(zone.mean_seconds)}};
  }
  return nullptr;
}

Json FoundFrame::to_json() const {
  const bool has_time = buffer_ && GST_BUFFER_PTS_IS_VALID(buffer_);
  Json json = {{"pts", has_time ? Json(GST_BUFFER_PTS(buffer_)) : Json()},
               {"width", width_ ? Json(width_) : Json()},
               {"height", height_ ? Json(height_) : Json()},
               {"detections", Json::array()}};
  const guint count = buffer_ ? gst_npu_buffer_get_num_objects(buffer_) : 0;
  for (guint i = 0; i < count; ++i) json["detections"].push_back(object_json(buffer_, i));
  return json;
}

bool is_count_event(const std::string& kind) {
  return kind == "entered" || kind == "left" || kind == "forward" || kind == "backward";
}

std::vector<PlaceCounts> places_of(const Json& stream, const char* kind) {
  std::vector<PlaceCounts> places;
  if (!stream.contains(kind)) return places;
  for (const Json& one : stream[kind]) {
    PlaceCounts place;
    place.place.name = one["name"].get<std::string>();
    for (const Json& point : one["points"])
      place.place.points.emplace_back(point[0].get<double>(), point[1].get<double>());
    places.push_back(std::move(place));
  }
  return places;
}

std::string place_key(const std::string& kind, const Place& place) {
  return kind + " " + place.name + " " + Json(place.points).dump();
}

}  // namespace npustream
