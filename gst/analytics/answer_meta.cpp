#include "answer_meta.hpp"

#include <gst/video/gstvideometa.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <utility>

#include <npuvision/labels.hpp>

#include "answer_structures.hpp"
#include "relation_reader.hpp"
#include "relation_writer.hpp"
#include "structure_values.hpp"

namespace gstnpu {
namespace {

using npu::vision::Answer;
using npu::vision::FrameSize;
using npu::vision::ModelCard;
using npu::vision::Object;

struct PixelBox {
  guint x, y, width, height;
};

/// Edges to the nearest pixel; at least one pixel, and inside the frame.
PixelBox to_pixels(const Object& object, FrameSize frame) {
  const auto first = [](double edge, guint limit) {
    return std::min(static_cast<guint>(std::lround(edge)), limit - 1);
  };
  const auto length = [](guint from, double edge) {
    return std::max(static_cast<guint>(std::lround(edge)), from + 1) - from;
  };
  const guint x = first(object.left, frame.width);
  const guint y = first(object.top, frame.height);
  return {x, y, length(x, object.right), length(y, object.bottom)};
}

// ---- Writing

std::string model_of(const GstNpuInferenceMeta& meta) {
  return meta.model ? meta.model : "";
}

std::vector<ReadClass> classes_of(const Answer& answer, const ModelCard& card,
                                  const GstNpuInferenceMeta& meta) {
  std::vector<ReadClass> classes;
  for (const npu::vision::ClassScore& one : answer.classes) {
    classes.push_back({npu::vision::label_of(card.labels, one.label_id),
                       static_cast<int>(one.label_id), one.confidence, model_of(meta)});
  }
  return classes;
}

/// A text is a class without a number, and in structures alone: GstAnalytics interns the names of
/// classes, which stay until the process ends.
std::vector<ReadClass> texts_of(const Answer& answer, const GstNpuInferenceMeta& meta) {
  if (!answer.text_confidence) return {};
  return {{answer.text, std::nullopt, *answer.text_confidence, model_of(meta)}};
}

/// Before anything changed the frame: a map moves with it only where it covers all of it.
MapPlace place_in_frame(GstBuffer* buffer, const GstNpuInferenceMeta& meta, FrameSize frame) {
  const GstNpuInferenceMeta* origin = known_origin(buffer, meta);
  if (!origin) return place_of_maps(meta, frame);
  return place_of_maps(*origin, {origin->frame_width, origin->frame_height});
}

void attach_objects(GstBuffer* buffer, const Answer& answer, const ModelCard& card,
                    FrameSize frame) {
  gint id = answer.objects.empty() ? 0 : next_region_id(buffer);
  const auto skeleton = npu::vision::skeleton_of(card, answer.key_points_per_object);
  for (std::size_t i = 0; i < answer.objects.size(); ++i) {
    const Object& object = answer.objects[i];
    const std::string label = npu::vision::label_of(card.labels, object.label_id);
    GstVideoRegionOfInterestMeta* meta = attach_object(buffer, object, label, frame, id++);
    if (answer.key_points_per_object > 0) {
      gst_video_region_of_interest_meta_add_param(
          meta, key_points_structure(answer.key_points_of(i), skeleton, frame));
    }
    if (i < answer.masks.size()) {
      gst_video_region_of_interest_meta_add_param(meta,
                                                  mask_structure(answer.masks[i], answer, frame));
      write_mask(buffer, meta->id, answer, i);
    }
  }
}

/// The results of others that decoded the same tensors stay where there are none.
void take_results(GstNpuInferenceMeta* meta, GstStructure* results) {
  if (results == nullptr) return;
  if (meta->results) {
    gst_structure_free(meta->results);
  }
  meta->results = results;
}

/// Adds a model's results for the region's object.
void add_params(GstVideoRegionOfInterestMeta* roi, const Answer& answer, const ModelCard& card,
                const GstNpuInferenceMeta& meta) {
  std::vector<ReadClass> said = classes_of(answer, card, meta);
  const std::vector<ReadClass> texts = texts_of(answer, meta);
  said.insert(said.end(), texts.begin(), texts.end());
  for (const ReadClass& one : said) {
    gst_video_region_of_interest_meta_add_param(roi, classification_structure(one));
  }
  if (!answer.embedding.empty()) {
    gst_video_region_of_interest_meta_add_param(roi, embedding_structure(answer.embedding));
  }
  if (answer.anomaly) {
    gst_video_region_of_interest_meta_add_param(
        roi, gst_structure_new("anomaly", "score", G_TYPE_DOUBLE,
                               static_cast<gdouble>(*answer.anomaly), nullptr));
  }
}

// ---- Reading

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

ReadClass read_class(const GstStructure* structure) {
  ReadClass found;
  found.label = text_of(structure, "label");
  gint label_id = 0;
  if (gst_structure_get_int(structure, "label_id", &label_id) && label_id >= 0) {
    found.label_id = label_id;
  }
  found.confidence = number(structure, "confidence");
  found.model = text_of(structure, "model_name");
  return found;
}

void read_detection(const GstStructure* structure, std::optional<FrameSize> frame, Region* region) {
  const ReadClass found = read_class(structure);
  if (!found.label.empty()) {
    region->label = found.label;
  }
  region->label_id = found.label_id;
  region->confidence = found.confidence;
  const auto edges = edges_of(structure);
  if (!frame || !edges) return;
  region->x = edges->left * frame->width;
  region->y = edges->top * frame->height;
  region->width = (edges->right - edges->left) * frame->width;
  region->height = (edges->bottom - edges->top) * frame->height;
  const auto x = number(structure, "x_center"), y = number(structure, "y_center");
  const auto width = number(structure, "oriented_width");
  const auto height = number(structure, "oriented_height");
  const auto angle = number(structure, "angle");
  if (x && y && width && height && angle) {
    region->oriented = {*x * frame->width, *y * frame->height, *width * frame->width,
                        *height * frame->height, *angle};
  }
}

void read_key_points(const GstStructure* structure, std::optional<FrameSize> frame,
                     Region* region) {
  if (!frame) return;
  const std::vector<double> values = values_of<double>(structure, "points");
  for (std::size_t i = 0; i + 2 < values.size(); i += 3) {
    region->key_points.push_back(
        {values[i] * frame->width, values[i + 1] * frame->height, values[i + 2]});
  }
}

/// Others' may be of anything: pairs that are cut short are left out, and so are more than a card
/// may have.
void read_skeleton(const GstStructure* structure, Region* region) {
  constexpr std::size_t kMostEnds = 8192;
  if (!gst_structure_has_field_typed(structure, "skeleton", G_TYPE_BYTES)) return;
  const std::vector<guint32> ends = values_of<guint32>(structure, "skeleton");
  region->skeleton.emplace();
  for (std::size_t i = 0; i + 1 < std::min(ends.size(), kMostEnds); i += 2) {
    region->skeleton->emplace_back(ends[i], ends[i + 1]);
  }
}

void read_mask(const GstStructure* structure, std::optional<FrameSize> frame, Region* region) {
  const auto edges = edges_of(structure);
  ReadMask mask;
  if (!frame || !edges || !gst_structure_get_uint(structure, "width", &mask.columns) ||
      !gst_structure_get_uint(structure, "height", &mask.rows)) {
    return;
  }
  mask.values = values_of<guint8>(structure, "values");
  if (mask.values.size() != std::size_t{mask.columns} * mask.rows) return;
  mask.x = edges->left * frame->width;
  mask.y = edges->top * frame->height;
  mask.width = (edges->right - edges->left) * frame->width;
  mask.height = (edges->bottom - edges->top) * frame->height;
  region->mask = std::move(mask);
}

/// As DL Streamer's gvatrack writes it; trackers that know no track of an object say -1.
void read_track(const GstStructure* structure, Region* region) {
  gint id = 0;
  if (gst_structure_get_int(structure, "id", &id) && id >= 0) {
    region->tracking_id = static_cast<guint64>(id);
  }
}

void read_param(const GstStructure* structure, std::optional<FrameSize> frame, RegionDetail detail,
                Region* region) {
  if (gst_structure_has_name(structure, "detection")) {
    read_detection(structure, frame, region);
  } else if (gst_structure_has_name(structure, "object_id")) {
    read_track(structure, region);
  } else if (detail == RegionDetail::kBox) {
    return;
  } else if (gst_structure_has_name(structure, "keypoints")) {
    read_key_points(structure, frame, region);
    read_skeleton(structure, region);
  } else if (gst_structure_has_name(structure, "mask")) {
    read_mask(structure, frame, region);
  } else if (gst_structure_has_name(structure, "embedding")) {
    region->embedding = values_of<float>(structure, "values");
  } else if (gst_structure_has_name(structure, "anomaly")) {
    region->anomaly = number(structure, "score");
  } else if (gst_structure_has_field_typed(structure, "label", G_TYPE_STRING)) {
    ReadClass& found = region->classes.emplace_back(read_class(structure));
    found.attribute = attribute_of(structure);
  }
}

FrameResults read_structure(const GstStructure* structure) {
  FrameResults results;
  const GValue* list = gst_structure_get_value(structure, "classifications");
  for (guint i = 0; list && GST_VALUE_HOLDS_LIST(list) && i < gst_value_list_get_size(list); ++i) {
    const GValue* value = gst_value_list_get_value(list, i);
    if (GST_VALUE_HOLDS_STRUCTURE(value)) {
      results.classes.push_back(read_class(gst_value_get_structure(value)));
    }
  }
  results.anomaly = number(structure, "anomaly");
  results.embedding = values_of<float>(structure, "embedding");
  return results;
}

/// Adds the results that GstAnalytics does not carry to objects that it alone knows.
void add_results_of_objects(GstBuffer* buffer, std::vector<Region>* regions) {
  gpointer state = nullptr;
  while (GstMeta* base = gst_buffer_iterate_meta_filtered(buffer, &state,
                                                          gst_npu_inference_meta_api_get_type())) {
    const auto& meta = *reinterpret_cast<const GstNpuInferenceMeta*>(base);
    if (!meta.is_region || meta.results == nullptr || meta.object_id < 0) continue;
    const auto region = std::find_if(regions->begin(), regions->end(), [&](const Region& one) {
      return one.meta == nullptr && one.analytics_id == static_cast<guint>(meta.object_id);
    });
    if (region == regions->end()) continue;
    FrameResults said = read_structure(meta.results);
    std::move(said.classes.begin(), said.classes.end(), std::back_inserter(region->classes));
    if (!region->anomaly) {
      region->anomaly = said.anomaly;
    }
    if (region->embedding.empty()) {
      region->embedding = std::move(said.embedding);
    }
  }
}

}  // namespace

gint next_region_id(GstBuffer* buffer) {
  gint next = 0;
  gpointer state = nullptr;
  while (GstMeta* meta = gst_buffer_iterate_meta_filtered(
             buffer, &state, GST_VIDEO_REGION_OF_INTEREST_META_API_TYPE)) {
    const gint id = reinterpret_cast<GstVideoRegionOfInterestMeta*>(meta)->id;
    // Others may have taken the highest there is: more must follow.
    if (id < G_MAXINT / 2) {
      next = std::max(next, id + 1);
    }
  }
  return next;
}

GstVideoRegionOfInterestMeta* attach_object(GstBuffer* buffer, const Object& object,
                                            const std::string& label, FrameSize frame, gint id) {
  const PixelBox box = to_pixels(object, frame);
  GstVideoRegionOfInterestMeta* meta = gst_buffer_add_video_region_of_interest_meta(
      buffer, label.c_str(), box.x, box.y, box.width, box.height);
  meta->id = write_object(buffer, object, *meta, id);
  gst_video_region_of_interest_meta_add_param(meta, detection_structure(object, label, frame));
  return meta;
}

const GstNpuInferenceMeta* known_origin(GstBuffer* buffer, const GstNpuInferenceMeta& meta) {
  const auto* origin = gst_buffer_get_npu_inference_origin(buffer, meta.inference_id);
  return origin && origin->frame_width > 0 && origin->frame_height > 0 ? origin : nullptr;
}

MapPlace place_of_maps(const GstNpuInferenceMeta& meta, FrameSize frame) {
  if (meta.model_width == 0 || meta.model_height == 0) return {};
  const auto share = [](double edge, double scale, guint size) {
    return std::clamp(edge * scale / size, 0.0, 1.0);
  };
  return {.left = share(-meta.offset_x, meta.scale_x, frame.width),
          .top = share(-meta.offset_y, meta.scale_y, frame.height),
          .right = share(meta.model_width - meta.offset_x, meta.scale_x, frame.width),
          .bottom = share(meta.model_height - meta.offset_y, meta.scale_y, frame.height)};
}

bool has_map(const Answer& answer) {
  return !answer.class_map.empty() || !answer.value_map.empty();
}

bool MapPlace::is_whole() const {
  constexpr double kRounding = 1e-6;
  return left < kRounding && top < kRounding && right > 1 - kRounding && bottom > 1 - kRounding;
}

void attach_to_frame(GstBuffer* buffer, GstNpuInferenceMeta* meta, const Answer& answer,
                     const ModelCard& card, FrameSize frame) {
  attach_objects(buffer, answer, card, frame);
  std::vector<ReadClass> classes = classes_of(answer, card, *meta);
  for (const ReadClass& one : classes) write_class(buffer, std::nullopt, one);
  const std::vector<ReadClass> texts = texts_of(answer, *meta);
  classes.insert(classes.end(), texts.begin(), texts.end());
  const MapPlace place = has_map(answer) ? place_in_frame(buffer, *meta, frame) : MapPlace{};
  write_class_map(buffer, std::nullopt, answer.class_map, card.labels, place, frame);
  take_results(meta, results_structure(answer, classes, place));
}

void attach_to_object(GstBuffer* buffer, GstNpuInferenceMeta* meta, const Answer& answer,
                      const ModelCard& card, FrameSize frame, const MapPlace& place) {
  attach_objects(buffer, answer, card, frame);
  GstVideoRegionOfInterestMeta* roi =
      gst_buffer_get_video_region_of_interest_meta_id(buffer, meta->object_id);
  std::optional<gint> known;
  if (!roi || !is_of_another(buffer, *roi)) {
    known = meta->object_id;
    for (const ReadClass& one : classes_of(answer, card, *meta)) write_class(buffer, known, one);
  }
  write_class_map(buffer, known, answer.class_map, card.labels, place, frame);
  if (roi) {
    add_params(roi, answer, card, *meta);
    take_results(meta, maps_structure(answer, place));
  } else {
    take_results(meta, results_structure(answer, texts_of(answer, *meta), place));
  }
}

FrameResults read_results(GstBuffer* buffer) {
  FrameResults all;
  gpointer state = nullptr;
  while (GstMeta* base = gst_buffer_iterate_meta_filtered(buffer, &state,
                                                          gst_npu_inference_meta_api_get_type())) {
    const auto& meta = *reinterpret_cast<const GstNpuInferenceMeta*>(base);
    if (meta.is_region || meta.results == nullptr) continue;
    FrameResults one = read_structure(meta.results);
    std::move(one.classes.begin(), one.classes.end(), std::back_inserter(all.classes));
    if (!all.anomaly) {
      all.anomaly = one.anomaly;
    }
    if (all.embedding.empty()) {
      all.embedding = std::move(one.embedding);
    }
  }
  if (all.classes.empty()) {
    all.classes = frame_classes(buffer);
  }
  return all;
}

std::vector<Region> read_regions(GstBuffer* buffer, std::optional<FrameSize> frame,
                                 RegionDetail detail) {
  std::vector<Region> regions;
  std::vector<GstVideoRegionOfInterestMeta*> metas;
  gpointer state = nullptr;
  while (GstMeta* base = gst_buffer_iterate_meta_filtered(
             buffer, &state, GST_VIDEO_REGION_OF_INTEREST_META_API_TYPE)) {
    auto* meta = reinterpret_cast<GstVideoRegionOfInterestMeta*>(base);
    const gchar* type = g_quark_to_string(meta->roi_type);
    Region region{.label = type != nullptr ? type : "",
                  .x = static_cast<double>(meta->x),
                  .y = static_cast<double>(meta->y),
                  .width = static_cast<double>(meta->w),
                  .height = static_cast<double>(meta->h)};
    for (const GList* param = meta->params; param != nullptr; param = param->next) {
      read_param(static_cast<const GstStructure*>(param->data), frame, detail, &region);
    }
    region.meta = meta;
    regions.push_back(std::move(region));
    metas.push_back(meta);
  }
  add_relations(buffer, metas, detail, &regions);
  if (detail == RegionDetail::kAll) {
    add_results_of_objects(buffer, &regions);
  }
  return regions;
}

}  // namespace gstnpu
