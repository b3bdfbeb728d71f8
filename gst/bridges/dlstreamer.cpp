#include "dlstreamer.hpp"

#include <gst/video/gstvideometa.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <set>
#include <span>
#include <string>

namespace gstnpu {
namespace {

using npu::vision::FrameSize;
using Roi = GstVideoRegionOfInterestMeta;

// ---- Numbers and bytes in structures

std::optional<double> number(const GstStructure* structure, const char* field) {
  double value = 0;
  if (!gst_structure_get_double(structure, field, &value)) return std::nullopt;
  return value;
}

/// Edges, 0..1 of the frame.
struct Normalised {
  double left, top, right, bottom;
};

std::optional<Normalised> edges_of(const GstStructure* structure) {
  const auto left = number(structure, "x_min"), right = number(structure, "x_max");
  const auto top = number(structure, "y_min"), bottom = number(structure, "y_max");
  if (!left || !right || !top || !bottom) return std::nullopt;
  return Normalised{*left, *top, *right, *bottom};
}

/// The bytes of a field; empty where there are none.
std::span<const std::byte> bytes_of(const GstStructure* structure, const char* field) {
  const GValue* value = gst_structure_get_value(structure, field);
  if (!value || !G_VALUE_HOLDS(value, G_TYPE_BYTES) || !g_value_get_boxed(value)) return {};
  gsize size = 0;
  const auto* data = g_bytes_get_data(static_cast<GBytes*>(g_value_get_boxed(value)), &size);
  return {static_cast<const std::byte*>(data), size};
}

template <typename Value>
std::vector<Value> values_of(const GstStructure* structure, const char* field) {
  const auto bytes = bytes_of(structure, field);
  std::vector<Value> values(bytes.size() / sizeof(Value));
  if (!values.empty()) {
    std::memcpy(values.data(), bytes.data(), values.size() * sizeof(Value));
  }
  return values;
}

template <typename Value>
void set_bytes(GstStructure* structure, const char* field, std::span<const Value> values) {
  GBytes* bytes = g_bytes_new(values.data(), values.size_bytes());
  gst_structure_set(structure, field, G_TYPE_BYTES, bytes, nullptr);
  g_bytes_unref(bytes);
}

// ---- Which region is of which object

struct Matched {
  struct Place {
    Roi* roi = nullptr;     ///< null: it has none
    std::size_t index = 0;  ///< in `seen`
  };
  std::vector<Place> of_objects;
  std::vector<Roi*> others;      ///< that came since
  std::vector<SeenRegion> seen;  ///< all that are there
  std::set<gint> departed;       ///< ids of those whose object has left the frame

  bool has_news(const FrameAnswer& answer) const {
    return !others.empty() || seen.size() != answer.regions_seen.size();
  }
};

bool is_at(const Roi& roi, const SeenRegion& was, const FrameAnswer& answer,
           const FoundObject& object) {
  const double x = roi.x + roi.w / 2.0 + was.crop_x - answer.crop_x - object.x;
  const double y = roi.y + roi.h / 2.0 + was.crop_y - answer.crop_y - object.y;
  return x >= -1 && x <= object.width + 1 && y >= -1 && y <= object.height + 1;
}

/// The object that had this region: of several with its id, which others leave at 0, the one in its
/// place.
std::optional<std::size_t> object_with(const Roi& roi, const SeenRegion& was,
                                       const FrameAnswer& answer, Search* search) {
  const auto& objects = answer.objects;
  const auto has_id = [&](std::size_t index) { return objects[index].region_id == roi.id; };
  if (const auto found = search->find([&](std::size_t index) {
        return has_id(index) && is_at(roi, was, answer, objects[index]);
      })) {
    return found;
  }
  const auto named = std::count_if(objects.begin(), objects.end(), [&](const FoundObject& object) {
    return object.region_id == roi.id;
  });
  return named == 1 ? search->find(has_id) : std::nullopt;  // a part of it may be cut off
}

/// Regions are known again by id and type, which stay when a frame is scaled.
Matched match(GstBuffer* buffer, const FrameAnswer& answer) {
  Matched matched;
  matched.of_objects.resize(answer.objects.size());
  Search objects(answer.objects.size()), known(answer.regions_seen.size());
  gpointer state = nullptr;
  while (GstMeta* meta = gst_buffer_iterate_meta_filtered(
             buffer, &state, GST_VIDEO_REGION_OF_INTEREST_META_API_TYPE)) {
    Roi* roi = reinterpret_cast<Roi*>(meta);
    const auto was = known.find([&](std::size_t index) {
      const SeenRegion& one = answer.regions_seen[index];
      return one.id == roi->id && one.type == roi->roi_type;
    });
    matched.seen.push_back(was ? answer.regions_seen[*was]
                               : SeenRegion{roi->id, roi->roi_type, answer.crop_x, answer.crop_y});
    if (!was) {
      matched.others.push_back(roi);
    } else if (const auto found = object_with(*roi, matched.seen.back(), answer, &objects)) {
      matched.of_objects[*found] = {roi, matched.seen.size() - 1};
    } else {
      matched.departed.insert(roi->id);
    }
  }
  return matched;
}

// ---- In

std::string text_of(const GstStructure* structure, const char* field) {
  const gchar* text = gst_structure_get_string(structure, field);
  return text ? text : "";
}

/// DL Streamer names the structure after what it is of, or the model's layer, and may tell the
/// former in a field.
std::string attribute_of(const GstStructure* structure) {
  const std::string told = text_of(structure, "attribute_name");
  const bool is_named = !gst_structure_has_name(structure, "classification");
  return told.empty() && is_named ? gst_structure_get_name(structure) : told;
}

FoundClass class_of(const GstStructure* structure) {
  FoundClass found{.label = text_of(structure, "label"),
                   .label_id = {},
                   .confidence = number(structure, "confidence"),
                   .model = text_of(structure, "model_name")};
  gint label_id = 0;
  if (gst_structure_get_int(structure, "label_id", &label_id) && label_id >= 0) {
    found.label_id = label_id;
  }
  return found;
}

void read_detection(const GstStructure* structure, std::optional<FrameSize> frame,
                    FoundObject* object) {
  FoundClass found = class_of(structure);
  if (!found.label.empty()) {
    object->label = std::move(found.label);
  }
  object->label_id = found.label_id;
  object->confidence = found.confidence;
  const auto edges = edges_of(structure);
  if (!frame || !edges) return;
  object->x = edges->left * frame->width;
  object->y = edges->top * frame->height;
  object->width = (edges->right - edges->left) * frame->width;
  object->height = (edges->bottom - edges->top) * frame->height;
  const auto x = number(structure, "x_center"), y = number(structure, "y_center");
  const auto width = number(structure, "oriented_width");
  const auto height = number(structure, "oriented_height");
  const auto angle = number(structure, "angle");
  if (x && y && width && height && angle) {
    object->oriented = {*x * frame->width, *y * frame->height, *width * frame->width,
                        *height * frame->height, *angle};
  }
}

void read_key_points(const GstStructure* structure, FrameSize frame, FoundObject* object) {
  const std::vector<double> values = values_of<double>(structure, "points");
  object->key_points.clear();
  for (std::size_t i = 0; i + 2 < values.size(); i += 3) {
    object->key_points.push_back(
        {values[i] * frame.width, values[i + 1] * frame.height, static_cast<float>(values[i + 2])});
  }
}

/// Pairs that are cut short are left out, and so are more than a card may have.
void read_skeleton(const GstStructure* structure, FoundObject* object) {
  constexpr std::size_t kMostEnds = 8192;
  if (!gst_structure_has_field_typed(structure, "skeleton", G_TYPE_BYTES)) return;
  const std::vector<guint32> ends = values_of<guint32>(structure, "skeleton");
  object->skeleton.emplace();
  for (std::size_t i = 0; i + 1 < std::min(ends.size(), kMostEnds); i += 2) {
    object->skeleton->emplace_back(ends[i], ends[i + 1]);
  }
}

void read_mask(const GstStructure* structure, FrameSize frame, FoundObject* object) {
  const auto edges = edges_of(structure);
  FoundMask mask;
  if (!edges || !gst_structure_get_uint(structure, "width", &mask.columns) ||
      !gst_structure_get_uint(structure, "height", &mask.rows)) {
    return;
  }
  mask.values = values_of<guint8>(structure, "values");
  if (mask.values.size() != std::size_t{mask.columns} * mask.rows) return;
  mask.x = edges->left * frame.width;
  mask.y = edges->top * frame.height;
  mask.width = (edges->right - edges->left) * frame.width;
  mask.height = (edges->bottom - edges->top) * frame.height;
  object->mask = std::move(mask);
}

/// As DL Streamer's gvatrack writes it; trackers that know no track of an object say -1.
void read_identity(const GstStructure* structure, FoundObject* object) {
  gint id = 0;
  if (gst_structure_get_int(structure, "id", &id) && id >= 0) {
    object->identity = Identity{.id = static_cast<guint64>(id)};
  }
}

void read_param(const GstStructure* structure, std::optional<FrameSize> frame,
                FoundObject* object) {
  if (gst_structure_has_name(structure, "detection")) {
    read_detection(structure, frame, object);
  } else if (gst_structure_has_name(structure, "object_id")) {
    read_identity(structure, object);
  } else if (gst_structure_has_name(structure, "keypoints")) {
    if (frame) {
      read_key_points(structure, *frame, object);
    }
    read_skeleton(structure, object);
  } else if (gst_structure_has_name(structure, "mask")) {
    if (frame) {
      read_mask(structure, *frame, object);
    }
  } else if (gst_structure_has_name(structure, "embedding")) {
    object->embedding = values_of<float>(structure, "values");
  } else if (gst_structure_has_name(structure, "anomaly")) {
    object->anomaly = number(structure, "score");
  } else if (gst_structure_has_field_typed(structure, "label", G_TYPE_STRING)) {
    FoundClass found = class_of(structure);
    found.attribute = attribute_of(structure);
    if (std::find(object->classes.begin(), object->classes.end(), found) == object->classes.end()) {
      object->classes.push_back(std::move(found));
    }
  }
}

bool has_values(const FoundObject& object) {
  return object.anomaly || !object.embedding.empty();
}

void note_carried(const Roi* roi, FoundObject* object) {
  object->carried = {.is_there = true,
                     .params = roi ? g_list_length(roi->params) : 0,
                     .classes = object->classes.size(),
                     .identity = object->identity.has_value(),
                     .values = has_values(*object)};
}

/// Reads the structures that came since; all of them where some went, as GStreamer before 1.28
/// drops them when it scales a frame.
void read_region(const Roi& roi, std::optional<FrameSize> frame, FoundObject* object) {
  const guint count = g_list_length(roi.params);
  const guint known = count < object->carried.params ? 0 : object->carried.params;
  for (const GList* param = g_list_nth(roi.params, known); param != nullptr; param = param->next) {
    read_param(static_cast<const GstStructure*>(param->data), frame, object);
  }
  note_carried(&roi, object);
}

FoundObject object_of(const Roi& roi, std::optional<FrameSize> frame) {
  const gchar* type = g_quark_to_string(roi.roi_type);
  FoundObject object{.label = type != nullptr ? type : "",
                     .x = static_cast<double>(roi.x),
                     .y = static_cast<double>(roi.y),
                     .width = static_cast<double>(roi.w),
                     .height = static_cast<double>(roi.h)};
  object.region_id = roi.id;
  read_region(roi, frame, &object);
  return object;
}

// ---- Out

struct PixelBox {
  guint x, y, width, height;
};

/// Edges to the nearest pixel; at least one pixel, and inside the frame.
PixelBox to_pixels(const FrameArea& area, FrameSize frame) {
  const auto first = [](double edge, guint limit) {
    return std::min(static_cast<guint>(std::lround(edge)), limit - 1);
  };
  const auto length = [](guint from, double edge) {
    return std::max(static_cast<guint>(std::lround(edge)), from + 1) - from;
  };
  const guint x = first(area.left, frame.width);
  const guint y = first(area.top, frame.height);
  return {x, y, length(x, area.right), length(y, area.bottom)};
}

void set_edges(GstStructure* structure, const FrameArea& area, FrameSize frame) {
  gst_structure_set(structure, "x_min", G_TYPE_DOUBLE, area.left / frame.width, "x_max",
                    G_TYPE_DOUBLE, area.right / frame.width, "y_min", G_TYPE_DOUBLE,
                    area.top / frame.height, "y_max", G_TYPE_DOUBLE, area.bottom / frame.height,
                    nullptr);
}

GstStructure* detection_structure(const FoundObject& object, FrameSize frame) {
  GstStructure* structure = gst_structure_new_empty("detection");
  set_edges(structure, object.area(), frame);
  gst_structure_set(structure, "confidence", G_TYPE_DOUBLE, object.confidence.value_or(0), "label",
                    G_TYPE_STRING, object.label.c_str(), nullptr);
  if (object.label_id) {
    gst_structure_set(structure, "label_id", G_TYPE_INT, *object.label_id, nullptr);
  }
  if (const auto& box = object.oriented) {
    gst_structure_set(structure, "x_center", G_TYPE_DOUBLE, box->center_x / frame.width, "y_center",
                      G_TYPE_DOUBLE, box->center_y / frame.height, "oriented_width", G_TYPE_DOUBLE,
                      box->width / frame.width, "oriented_height", G_TYPE_DOUBLE,
                      box->height / frame.height, "angle", G_TYPE_DOUBLE, box->angle, nullptr);
  }
  return structure;
}

GstStructure* classification_structure(const FoundClass& found) {
  GstStructure* structure =
      gst_structure_new("classification", "label", G_TYPE_STRING, found.label.c_str(), "label_id",
                        G_TYPE_INT, found.label_id.value_or(-1), "confidence", G_TYPE_DOUBLE,
                        found.confidence.value_or(0), nullptr);
  if (!found.model.empty()) {
    gst_structure_set(structure, "model_name", G_TYPE_STRING, found.model.c_str(), nullptr);
  }
  return structure;
}

/// Holds x, y and confidence of each point in turn, and the ends of each bone.
GstStructure* key_points_structure(const FoundObject& object, FrameSize frame) {
  std::vector<double> values;
  for (const auto& point : object.key_points) {
    values.insert(values.end(), {point.x / frame.width, point.y / frame.height, point.confidence});
  }
  GstStructure* structure = gst_structure_new(
      "keypoints", "count", G_TYPE_UINT, static_cast<guint>(object.key_points.size()), nullptr);
  set_bytes<double>(structure, "points", values);
  std::vector<guint32> ends;
  for (const auto& [first, second] : object.skeleton.value_or(npu::vision::Skeleton())) {
    ends.insert(ends.end(), {first, second});
  }
  set_bytes<guint32>(structure, "skeleton", ends);
  return structure;
}

GstStructure* mask_structure(const FoundMask& mask, FrameSize frame) {
  GstStructure* structure = gst_structure_new("mask", "width", G_TYPE_UINT, mask.columns, "height",
                                              G_TYPE_UINT, mask.rows, nullptr);
  set_edges(structure, mask.area(), frame);
  set_bytes<guint8>(structure, "values", mask.values);
  return structure;
}

void add(Roi* roi, GstStructure* structure) {
  gst_video_region_of_interest_meta_add_param(roi, structure);
}

Roi* add_region(GstBuffer* buffer, FrameSize frame, gint id, FoundObject* object) {
  const PixelBox box = to_pixels(object->area(), frame);
  Roi* roi = gst_buffer_add_video_region_of_interest_meta(buffer, object->label.c_str(), box.x,
                                                          box.y, box.width, box.height);
  roi->id = id;
  object->region_id = id;
  add(roi, detection_structure(*object, frame));
  if (!object->key_points.empty()) {
    add(roi, key_points_structure(*object, frame));
  }
  if (object->mask) {
    add(roi, mask_structure(*object->mask, frame));
  }
  return roi;
}

void add_params(const FoundObject& object, Roi* roi) {
  for (std::size_t i = object.carried.classes; i < object.classes.size(); ++i) {
    add(roi, classification_structure(object.classes[i]));
  }
  if (!object.carried.values && !object.embedding.empty()) {
    GstStructure* structure = gst_structure_new_empty("embedding");
    set_bytes<float>(structure, "values", object.embedding);
    add(roi, structure);
  }
  if (!object.carried.values && object.anomaly) {
    add(roi, gst_structure_new("anomaly", "score", G_TYPE_DOUBLE, *object.anomaly, nullptr));
  }
  if (!object.carried.identity && object.identity) {
    // DL Streamer's field is an int.
    add(roi, gst_structure_new("object_id", "id", G_TYPE_INT,
                               static_cast<gint>(object.identity->id & G_MAXINT), nullptr));
  }
}

/// An id that no region has. Others may have taken the highest there is: more must follow.
gint next_id(const Matched& matched) {
  gint next = 0;
  for (const SeenRegion& region : matched.seen) {
    if (region.id < G_MAXINT / 2) {
      next = std::max(next, region.id + 1);
    }
  }
  return next;
}

/// A region that is gone has taken its object with it, unless GstAnalytics has that, too.
bool is_gone(const FoundObject& object, const Matched::Place& place) {
  return !place.roi && object.region_id && !object.analytics_id;
}

}  // namespace

void from_dlstreamer(GstBuffer* buffer, std::optional<FrameSize> frame, Draft* draft) {
  const Matched matched = match(buffer, draft->get());
  for (std::size_t i = matched.of_objects.size(); i-- > 0;) {
    const Roi* roi = matched.of_objects[i].roi;
    const FoundObject& object = draft->get().objects[i];
    if (is_gone(object, matched.of_objects[i])) {
      auto& objects = draft->edit().objects;
      objects.erase(objects.begin() + static_cast<std::ptrdiff_t>(i));
    } else if (roi && g_list_length(roi->params) != object.carried.params) {
      read_region(*roi, frame, &draft->edit().objects[i]);
    }
  }
  if (!matched.has_news(draft->get())) return;
  for (const Roi* roi : matched.others) {
    draft->edit().objects.push_back(object_of(*roi, frame));
  }
  draft->edit().regions_seen = matched.seen;
}

void to_dlstreamer(GstBuffer* buffer, FrameAnswer* answer) {
  Matched matched = match(buffer, *answer);
  gint next = next_id(matched);
  for (std::size_t i = 0; i < answer->objects.size(); ++i) {
    FoundObject& object = answer->objects[i];
    Roi* roi = matched.of_objects[i].roi;
    if (!object.carried.is_there) {
      const gint id = object.analytics_id ? static_cast<gint>(*object.analytics_id) : next++;
      roi = add_region(buffer, answer->frame, id, &object);
      matched.seen.push_back({id, roi->roi_type, answer->crop_x, answer->crop_y});
    }
    if (roi) {
      add_params(object, roi);
    }
    note_carried(roi, &object);
  }
  answer->regions_seen = std::move(matched.seen);
}

void give_ids(GstBuffer* buffer, FrameAnswer* answer) {
  Matched matched = match(buffer, *answer);
  std::set<gint> used = matched.departed;
  gint next = std::max(next_id(matched), static_cast<gint>(answer->relations_seen));
  for (const FoundObject& object : answer->objects) {
    if (object.analytics_id) {
      used.insert(static_cast<gint>(*object.analytics_id));
    }
  }
  for (std::size_t i = 0; i < answer->objects.size(); ++i) {
    FoundObject& object = answer->objects[i];
    const bool is_twin =
        object.analytics_id && object.region_id == static_cast<gint>(*object.analytics_id);
    if (!object.region_id || is_twin || used.insert(*object.region_id).second) continue;
    object.region_id = next++;
    const auto [roi, index] = matched.of_objects[i];
    if (!roi) continue;
    roi->id = *object.region_id;
    matched.seen[index].id = roi->id;
  }
  answer->regions_seen = std::move(matched.seen);
}

}  // namespace gstnpu
