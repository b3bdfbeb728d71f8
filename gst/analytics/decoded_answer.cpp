#include "decoded_answer.hpp"

#include <algorithm>
#include <iterator>
#include <span>
#include <utility>

#include <npuvision/labels.hpp>
#include <npuvision/skeleton.hpp>

namespace gstnpu {
namespace {

using npu::vision::Answer;
using npu::vision::FrameSize;
using npu::vision::Object;

/// The part of the frame that the model's pixels cover: not all of it where it saw only its middle
/// or an object.
FrameArea seen_by(const GstNpuInferenceMeta* meta, FrameSize frame) {
  const FrameArea all{0, 0, static_cast<double>(frame.width), static_cast<double>(frame.height)};
  if (!meta || meta->model_width == 0 || meta->model_height == 0) return all;
  const FrameArea seen{-meta->offset_x * meta->scale_x, -meta->offset_y * meta->scale_y,
                       (meta->model_width - meta->offset_x) * meta->scale_x,
                       (meta->model_height - meta->offset_y) * meta->scale_y};
  return common(seen, all);
}

FrameArea object_of(const GstNpuInferenceMeta& meta) {
  const double left = meta.region_x, top = meta.region_y;
  return {left, top, left + meta.region_w, top + meta.region_h};
}

std::vector<FoundClass> classes_of(const Answer& answer, const Answering& model) {
  const std::string name = model.meta && model.meta->model ? model.meta->model : "";
  std::vector<FoundClass> classes;
  for (const npu::vision::ClassScore& one : answer.classes) {
    classes.push_back({npu::vision::label_of(model.card.labels, one.label_id),
                       static_cast<int>(one.label_id), one.confidence, name});
  }
  if (answer.text_confidence) {
    classes.push_back({answer.text, std::nullopt, *answer.text_confidence, name});
  }
  return classes;
}

FoundMask mask_of(const npu::vision::Mask& mask, const Answer& answer) {
  const auto values =
      std::span(answer.mask_pixels).subspan(mask.first, std::size_t{mask.columns} * mask.rows);
  return {static_cast<double>(mask.x),
          static_cast<double>(mask.y),
          static_cast<double>(mask.width),
          static_cast<double>(mask.height),
          mask.columns,
          mask.rows,
          {values.begin(), values.end()}};
}

FoundObject found_object(const Object& object, const Answering& model) {
  FoundObject found{.label = npu::vision::label_of(model.card.labels, object.label_id),
                    .label_id = static_cast<int>(object.label_id),
                    .confidence = object.confidence,
                    .x = object.left,
                    .y = object.top,
                    .width = object.right - object.left,
                    .height = object.bottom - object.top};
  found.oriented = object.oriented;
  return found;
}

std::vector<FoundObject> objects_of(const Answer& answer, const Answering& model) {
  std::vector<FoundObject> objects;
  objects.reserve(answer.objects.size());
  const auto skeleton = npu::vision::skeleton_of(model.card, answer.key_points_per_object);
  for (std::size_t i = 0; i < answer.objects.size(); ++i) {
    FoundObject& found = objects.emplace_back(found_object(answer.objects[i], model));
    if (answer.key_points_per_object > 0) {
      const auto points = answer.key_points_of(i);
      found.key_points.assign(points.begin(), points.end());
      found.skeleton = skeleton;
    }
    if (i < answer.masks.size()) {
      found.mask = mask_of(answer.masks[i], answer);
    }
  }
  return objects;
}

void add_maps(const Answer& answer, const Answering& model, FrameAnswer* said) {
  if (answer.class_map.empty() && answer.value_map.empty()) return;
  FoundMap map{.area = seen_by(model.meta, said->frame),
               .object_id = {},
               .classes = answer.class_map,
               .values = answer.value_map,
               .is_anomaly = answer.anomaly || model.card.task == npu::vision::Task::kAnomaly ||
                             model.card.family == npu::vision::Family::kAnomaly,
               .labels = model.labels};
  const bool is_of_object = model.meta && model.meta->is_region;
  if (is_of_object && model.meta->region_w > 0 && model.meta->region_h > 0) {
    cut(&map, object_of(*model.meta));
  }
  if (map.classes.empty() && map.values.empty()) return;
  said->maps.push_back(std::move(map));
}

template <typename Items>
void append(Items from, Items* to) {
  std::move(from.begin(), from.end(), std::back_inserter(*to));
}

/// Those of the frame stay in front of those of objects.
void append_maps(std::vector<FoundMap> maps, FrameAnswer* answer) {
  append(std::move(maps), &answer->maps);
  std::stable_partition(answer->maps.begin(), answer->maps.end(),
                        [](const FoundMap& map) { return !map.object_id; });
}

/// The first that says it counts.
template <typename Whole>
void add_values(FrameAnswer* said, Whole* whole) {
  append(std::move(said->classes), &whole->classes);
  if (!whole->anomaly) {
    whole->anomaly = said->anomaly;
  }
  if (whole->embedding.empty()) {
    whole->embedding = std::move(said->embedding);
  }
}

}  // namespace

FrameAnswer answer_of(const Answer& answer, const Answering& model, FrameSize frame) {
  FrameAnswer said;
  said.frame = frame;
  said.objects = objects_of(answer, model);
  said.classes = classes_of(answer, model);
  if (answer.anomaly) {
    said.anomaly = *answer.anomaly;
  }
  said.embedding = answer.embedding;
  add_maps(answer, model, &said);
  return said;
}

void add_to_frame(FrameAnswer said, FrameAnswer* answer) {
  append(std::move(said.objects), &answer->objects);
  add_values(&said, answer);
  append_maps(std::move(said.maps), answer);
}

void add_to_object(FrameAnswer said, gint object_id, FrameAnswer* answer) {
  append(std::move(said.objects), &answer->objects);
  FoundObject* object = answer->find(object_id);
  if (!object) return;
  add_values(&said, object);
  for (FoundMap& map : said.maps) map.object_id = object_id;
  append_maps(std::move(said.maps), answer);
}

}  // namespace gstnpu
