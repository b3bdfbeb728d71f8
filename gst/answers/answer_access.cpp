// FrameAnswer for C.
#include "frame_answer.hpp"

using gstnpu::FoundClass;
using gstnpu::FoundMap;
using gstnpu::FoundObject;
using gstnpu::FrameAnswer;

namespace {

/// The buffer keeps it.
const FrameAnswer* answer_of(GstBuffer* buffer) {
  return gstnpu::answer_on(buffer).get();
}

const FoundObject* object_of(GstBuffer* buffer, guint index) {
  const FrameAnswer* answer = answer_of(buffer);
  return answer && index < answer->objects.size() ? &answer->objects[index] : nullptr;
}

/// The value of an object, or that of the whole frame; null where there is none.
template <typename Value>
const Value* said_of(GstBuffer* buffer, guint object, Value FoundObject::*of_object,
                     Value FrameAnswer::*of_frame) {
  const FrameAnswer* answer = answer_of(buffer);
  if (answer && object == GST_NPU_WHOLE_FRAME) return &(answer->*of_frame);
  const FoundObject* found = object_of(buffer, object);
  return found ? &(found->*of_object) : nullptr;
}

template <typename Item>
const Item* item_of(const std::vector<Item>* items, guint index) {
  return items && index < items->size() ? &(*items)[index] : nullptr;
}

GstNpuClass to_c(const FoundClass& found) {
  return {found.label.c_str(), found.label_id.value_or(-1), found.confidence.value_or(-1),
          found.model.c_str(), found.attribute.c_str()};
}

/// A map's classes and its values are two maps in C.
struct MapPart {
  const FoundMap* map = nullptr;
  bool has_classes = false;
};

MapPart part_of(GstBuffer* buffer, guint index) {
  const FrameAnswer* answer = answer_of(buffer);
  if (!answer) return {};
  for (const FoundMap& map : answer->maps) {
    for (const bool has_classes : {true, false}) {
      const bool is_there = has_classes ? !map.classes.empty() : !map.values.empty();
      if (is_there && index-- == 0) return {&map, has_classes};
    }
  }
  return {};
}

guint index_of(const FrameAnswer& answer, std::optional<gint> object_id) {
  for (guint i = 0; object_id && i < answer.objects.size(); ++i) {
    if (answer.objects[i].id() == *object_id) return i;
  }
  return GST_NPU_WHOLE_FRAME;
}

template <typename Item>
const Item* counted(GstBuffer* buffer, std::vector<Item> gstnpu::FrameCounts::*list, guint index) {
  const FrameAnswer* answer = answer_of(buffer);
  return answer ? item_of(&(answer->counts.*list), index) : nullptr;
}

}  // namespace

guint gst_npu_buffer_get_num_objects(GstBuffer* buffer) {
  const FrameAnswer* answer = answer_of(buffer);
  return answer ? static_cast<guint>(answer->objects.size()) : 0;
}

gboolean gst_npu_buffer_get_object(GstBuffer* buffer, guint index, GstNpuObject* object) {
  const FoundObject* found = object_of(buffer, index);
  if (!found) return FALSE;
  const auto turned = found->oriented.value_or(npu::vision::OrientedBox{});
  *object = {
      {found->label.c_str(), found->label_id.value_or(-1), found->confidence.value_or(-1), "", ""},
      {found->x, found->y, found->width, found->height},
      found->id(),
      found->oriented.has_value(),
      turned.center_x,
      turned.center_y,
      turned.width,
      turned.height,
      turned.angle,
      found->identity.has_value(),
      found->identity ? found->identity->id : 0,
      found->anomaly.has_value(),
      found->anomaly.value_or(0)};
  return TRUE;
}

gboolean gst_npu_buffer_get_class(GstBuffer* buffer, guint object, guint index,
                                  GstNpuClass* found) {
  const FoundClass* one =
      item_of(said_of(buffer, object, &FoundObject::classes, &FrameAnswer::classes), index);
  if (!one) return FALSE;
  *found = to_c(*one);
  return TRUE;
}

gboolean gst_npu_buffer_get_anomaly(GstBuffer* buffer, guint object, gdouble* anomaly) {
  const auto* value = said_of(buffer, object, &FoundObject::anomaly, &FrameAnswer::anomaly);
  if (!value || !*value) return FALSE;
  *anomaly = **value;
  return TRUE;
}

const gfloat* gst_npu_buffer_get_embedding(GstBuffer* buffer, guint object, guint* length) {
  const auto* values = said_of(buffer, object, &FoundObject::embedding, &FrameAnswer::embedding);
  const std::size_t count = values ? values->size() : 0;
  if (length) {
    *length = static_cast<guint>(count);
  }
  return count > 0 ? values->data() : nullptr;
}

gboolean gst_npu_buffer_get_key_point(GstBuffer* buffer, guint object, guint index,
                                      GstNpuKeyPoint* point) {
  const FoundObject* found = object_of(buffer, object);
  const auto* one = found ? item_of(&found->key_points, index) : nullptr;
  if (!one) return FALSE;
  *point = {one->x, one->y, static_cast<double>(one->confidence)};
  return TRUE;
}

gboolean gst_npu_buffer_get_mask(GstBuffer* buffer, guint object, GstNpuMask* mask) {
  const FoundObject* found = object_of(buffer, object);
  if (!found || !found->mask) return FALSE;
  const gstnpu::FoundMask& one = *found->mask;
  *mask = {{one.x, one.y, one.width, one.height}, one.columns, one.rows, one.values.data()};
  return TRUE;
}

GBytes* gst_npu_mask_get_bytes(const GstNpuMask* mask) {
  return g_bytes_new(mask->values, gsize{mask->columns} * mask->rows);
}

GBytes* gst_npu_map_get_bytes(const GstNpuMap* map) {
  const gsize count = gsize{map->columns} * map->rows;
  return map->classes ? g_bytes_new(map->classes, count * sizeof(guint16))
                      : g_bytes_new(map->values, count * sizeof(gfloat));
}

gboolean gst_npu_buffer_get_map(GstBuffer* buffer, guint index, GstNpuMap* map) {
  const auto [found, has_classes] = part_of(buffer, index);
  if (!found) return FALSE;
  const gstnpu::FrameArea& area = found->area;
  *map = {index_of(*answer_of(buffer), found->object_id),
          {area.left, area.top, area.width(), area.height()},
          has_classes ? found->classes.width : found->values.width,
          has_classes ? found->classes.height : found->values.height,
          has_classes ? found->classes.values.data() : nullptr,
          has_classes ? nullptr : found->values.values.data(),
          !has_classes && found->is_anomaly};
  return TRUE;
}

const gchar* gst_npu_buffer_get_map_label(GstBuffer* buffer, guint index, guint label_id) {
  const FoundMap* map = part_of(buffer, index).map;
  const std::string* label = map ? item_of(&map->names(), label_id) : nullptr;
  return label ? label->c_str() : nullptr;
}

gboolean gst_npu_buffer_get_zone(GstBuffer* buffer, guint index, GstNpuZone* zone) {
  const auto* one = counted(buffer, &gstnpu::FrameCounts::zones, index);
  if (!one) return FALSE;
  *zone = {one->name.c_str(), one->entered, one->left, one->inside.size(),
           one->mean_seconds().value_or(-1)};
  return TRUE;
}

gboolean gst_npu_buffer_get_zone_inside(GstBuffer* buffer, guint zone, guint index,
                                        guint64* tracking_id, gdouble* seconds) {
  const auto* one = counted(buffer, &gstnpu::FrameCounts::zones, zone);
  const auto* inside = one ? item_of(&one->inside, index) : nullptr;
  if (!inside) return FALSE;
  *tracking_id = inside->id;
  *seconds = inside->seconds;
  return TRUE;
}

gboolean gst_npu_buffer_get_line(GstBuffer* buffer, guint index, GstNpuLine* line) {
  const auto* one = counted(buffer, &gstnpu::FrameCounts::lines, index);
  if (!one) return FALSE;
  *line = {one->name.c_str(), one->forward, one->backward};
  return TRUE;
}

gboolean gst_npu_buffer_get_event(GstBuffer* buffer, guint index, GstNpuEvent* event) {
  const auto* one = counted(buffer, &gstnpu::FrameCounts::events, index);
  if (!one) return FALSE;
  *event = {to_string(one->kind), one->place.c_str(), one->id, one->seconds.value_or(-1)};
  return TRUE;
}
