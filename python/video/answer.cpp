#include <algorithm>
#include <cmath>

#include "meta/npumeta.h"

#include "video.hpp"

namespace pynpu::video {
namespace {

namespace vision = npu::vision;
using Objects = std::vector<GstNpuObject>;

Objects objects_of(GstBuffer* buffer) {
  Objects objects(gst_npu_buffer_get_num_objects(buffer));
  for (guint i = 0; i < objects.size(); ++i) gst_npu_buffer_get_object(buffer, i, &objects[i]);
  return objects;
}

std::vector<GstNpuClass> classes_of(GstBuffer* buffer, guint object) {
  std::vector<GstNpuClass> classes;
  GstNpuClass found;
  for (guint i = 0; gst_npu_buffer_get_class(buffer, object, i, &found); ++i) {
    classes.push_back(found);
  }
  return classes;
}

/// The labels by number. A label without one gets a number behind all others.
class Labels {
 public:
  void note(const GstNpuClass& found) {
    if (found.label_id < 0 || found.label_id >= kMost) return;
    const auto id = static_cast<std::size_t>(found.label_id);
    names_.resize(std::max(names_.size(), id + 1));
    names_[id] = found.label;
  }
  std::uint32_t id_of(const GstNpuClass& found) {
    if (found.label_id >= 0) return static_cast<std::uint32_t>(found.label_id);
    names_.emplace_back(found.label);
    return static_cast<std::uint32_t>(names_.size() - 1);
  }
  std::vector<std::string> names() && { return std::move(names_); }

 private:
  static constexpr gint kMost = 1 << 20;
  std::vector<std::string> names_;
};

vision::Object object_of(const GstNpuObject& found, std::uint32_t label_id) {
  const GstNpuBox& box = found.box;
  const auto confidence = static_cast<float>(found.found.confidence);
  vision::Object object{
      box.x, box.y, box.x + box.w, box.y + box.h, confidence < 0 ? NAN : confidence, label_id, {}};
  if (found.is_oriented) {
    object.oriented = {found.center_x, found.center_y, found.width, found.height, found.angle};
  }
  return object;
}

/// Objects that have fewer than the others get points that are not there.
void add_key_points(GstBuffer* buffer, vision::Answer* answer) {
  std::vector<std::vector<vision::KeyPoint>> of_objects(answer->objects.size());
  for (guint i = 0; i < of_objects.size(); ++i) {
    GstNpuKeyPoint point;
    for (guint j = 0; gst_npu_buffer_get_key_point(buffer, i, j, &point); ++j) {
      of_objects[i].push_back({point.x, point.y, static_cast<float>(point.confidence)});
    }
    answer->key_points_per_object = std::max(answer->key_points_per_object, of_objects[i].size());
  }
  for (auto& points : of_objects) {
    points.resize(answer->key_points_per_object, {0, 0, 0});
    answer->key_points.insert(answer->key_points.end(), points.begin(), points.end());
  }
}

/// The place of a mask in whole pixels of the frame.
vision::Mask place_of(const GstNpuMask& mask, vision::FrameSize frame) {
  const auto inside = [](double edge, std::uint32_t limit) {
    return static_cast<std::uint32_t>(std::clamp<double>(std::round(edge), 0, limit));
  };
  const std::uint32_t x = inside(mask.box.x, frame.width), y = inside(mask.box.y, frame.height);
  return {x,
          y,
          inside(mask.box.x + mask.box.w, frame.width) - x,
          inside(mask.box.y + mask.box.h, frame.height) - y,
          mask.columns,
          mask.rows,
          0};
}

/// An object without one among others gets an empty mask.
void add_masks(GstBuffer* buffer, vision::FrameSize frame, vision::Answer* answer) {
  std::vector<vision::Mask> masks(answer->objects.size());
  bool has_any = false;
  for (guint i = 0; i < masks.size(); ++i) {
    GstNpuMask mask;
    if (!gst_npu_buffer_get_mask(buffer, i, &mask)) continue;
    has_any = true;
    masks[i] = place_of(mask, frame);
    auto& pixels = answer->mask_pixels;
    masks[i].first = pixels.size();
    pixels.insert(pixels.end(), mask.values, mask.values + std::size_t{mask.columns} * mask.rows);
  }
  if (has_any) {
    answer->masks = std::move(masks);
  }
}

/// The first map of each kind that is of the whole frame.
void add_maps(GstBuffer* buffer, vision::Answer* answer) {
  GstNpuMap map;
  for (guint i = 0; gst_npu_buffer_get_map(buffer, i, &map); ++i) {
    const std::size_t count = std::size_t{map.columns} * map.rows;
    if (map.object != GST_NPU_WHOLE_FRAME) continue;
    if (map.classes != nullptr && answer->class_map.empty()) {
      answer->class_map = {map.columns, map.rows, {map.classes, map.classes + count}};
    }
    if (map.values != nullptr && answer->value_map.empty()) {
      answer->value_map = {map.columns, map.rows, {map.values, map.values + count}};
    }
  }
}

std::vector<float> embedding_of(GstBuffer* buffer, guint object) {
  guint length = 0;
  const gfloat* values = gst_npu_buffer_get_embedding(buffer, object, &length);
  return values != nullptr ? std::vector<float>(values, values + length) : std::vector<float>();
}

/// A text is a class without a number.
void add_classes(const std::vector<GstNpuClass>& classes, vision::Answer* answer) {
  for (const GstNpuClass& found : classes) {
    const auto confidence = static_cast<float>(found.confidence);
    if (found.label_id >= 0) {
      answer->classes.push_back({static_cast<std::uint32_t>(found.label_id), confidence});
    } else if (answer->text.empty()) {
      answer->text = found.label;
      answer->text_confidence = confidence < 0 ? std::nullopt : std::optional(confidence);
    }
  }
}

nb::tuple details_of(GstBuffer* buffer, guint index, const GstNpuObject& object) {
  nb::list classes;
  std::string text;
  for (const GstNpuClass& found : classes_of(buffer, index)) {
    if (found.label_id >= 0) {
      classes.append(nb::make_tuple(found.label, found.label_id, found.confidence));
    } else if (text.empty()) {
      text = found.label;
    }
  }
  const std::vector<float> embedding = embedding_of(buffer, index);
  return nb::make_tuple(object.is_tracked ? nb::cast(object.tracking_id) : nb::none(), classes,
                        text, object.has_anomaly ? nb::cast(object.anomaly) : nb::none(),
                        embedding.empty() ? nb::none() : array_of(embedding, {embedding.size()}));
}

}  // namespace

Answer read_answer(GstBuffer* buffer, vision::FrameSize frame) {
  Answer answer{{}, frame, {}, {}};
  const Objects objects = objects_of(buffer);
  const std::vector<GstNpuClass> classes = classes_of(buffer, GST_NPU_WHOLE_FRAME);
  Labels labels;
  for (const GstNpuObject& object : objects) labels.note(object.found);
  for (const GstNpuClass& found : classes) labels.note(found);
  std::vector<std::int64_t> ids;
  bool is_tracked = false;
  for (const GstNpuObject& object : objects) {
    answer.found.objects.push_back(object_of(object, labels.id_of(object.found)));
    ids.push_back(object.is_tracked ? static_cast<std::int64_t>(object.tracking_id) : -1);
    is_tracked |= object.is_tracked != FALSE;
  }
  if (is_tracked) {
    answer.tracker_id = std::move(ids);
  }
  add_key_points(buffer, &answer.found);
  add_masks(buffer, frame, &answer.found);
  add_maps(buffer, &answer.found);
  add_classes(classes, &answer.found);
  answer.found.embedding = embedding_of(buffer, GST_NPU_WHOLE_FRAME);
  if (gdouble anomaly = 0; gst_npu_buffer_get_anomaly(buffer, GST_NPU_WHOLE_FRAME, &anomaly)) {
    answer.found.anomaly = static_cast<float>(anomaly);
  }
  answer.labels = std::make_shared<const std::vector<std::string>>(std::move(labels).names());
  return answer;
}

nb::list read_details(GstBuffer* buffer) {
  nb::list details;
  const Objects objects = objects_of(buffer);
  for (guint i = 0; i < objects.size(); ++i) details.append(details_of(buffer, i, objects[i]));
  return details;
}

}  // namespace pynpu::video
