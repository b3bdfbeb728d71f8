#include "upstream.hpp"

#include <gst/base/gstbasetransform.h>
#include <gst/video/video.h>

#include <algorithm>
#include <utility>

namespace gstnpu {
namespace {

using PadRef = ObjectRef<GstPad>;

/// Longest search in elements: a pipeline that is being relinked may look endless.
constexpr int kFarthest = 64;

/// The pad of another element that this one is linked to, through the ghost pads of bins; null
/// where there is none. `pad` may be null.
PadRef linked_to(PadRef pad) {
  for (int i = 0; pad && i < kFarthest; ++i) {
    PadRef peer(gst_pad_get_peer(pad.get()));
    while (peer && GST_IS_GHOST_PAD(peer.get())) {
      peer.reset(gst_ghost_pad_get_target(GST_GHOST_PAD(peer.get())));
    }
    if (!peer || !GST_IS_PROXY_PAD(peer.get())) return peer;
    pad.reset(GST_PAD(gst_proxy_pad_get_internal(GST_PROXY_PAD(peer.get()))));
  }
  return nullptr;
}

/// The element whose pad feeds this one; null where there is none. `pad` may be null.
ObjectRef<GstElement> element_feeding(PadRef pad) {
  const PadRef source = linked_to(std::move(pad));
  return ObjectRef<GstElement>(source ? gst_pad_get_parent_element(source.get()) : nullptr);
}

/// The pad of that kind, which `pads` and `count` list; null where there is none, or several.
PadRef only_of(GstElement* element, GList* GstElement::*pads, guint16 GstElement::*count) {
  GST_OBJECT_LOCK(element);
  PadRef only(element->*count == 1 ? GST_PAD(gst_object_ref((element->*pads)->data)) : nullptr);
  GST_OBJECT_UNLOCK(element);
  return only;
}

PadRef only_source_of(GstElement* element) {
  return only_of(element, &GstElement::srcpads, &GstElement::numsrcpads);
}

/// Whether all these caps are of the same format and size as `one`, which is fixed.
bool are_of_one_picture(const GstCaps* caps, const GstCaps* one) {
  const GstStructure* wanted = gst_caps_get_structure(one, 0);
  for (guint i = 0; i < gst_caps_get_size(caps); ++i) {
    const GstStructure* structure = gst_caps_get_structure(caps, i);
    for (const char* field : {"format", "drm-format", "width", "height"}) {
      const GValue* value = gst_structure_get_value(structure, field);
      const GValue* other = gst_structure_get_value(wanted, field);
      const bool are_equal =
          value && other ? gst_value_compare(value, other) == GST_VALUE_EQUAL : value == other;
      if (!are_equal) return false;
    }
  }
  return gst_caps_get_size(caps) > 0;
}

/// Whether the element passes pictures of the first of these caps on in their format and size.
bool keeps_pictures(GstElement* element, const GstCaps* caps) {
  if (!GST_IS_BASE_TRANSFORM(element)) return false;
  auto* const transform = GST_BASE_TRANSFORM(element);
  const CapsRef first(gst_caps_copy_nth(caps, 0));
  const CapsRef passed(GST_BASE_TRANSFORM_GET_CLASS(transform)->transform_caps(
      transform, GST_PAD_SINK, first.get(), nullptr));
  return passed && are_of_one_picture(passed.get(), first.get());
}

}  // namespace

PadRef only_sink_of(GstElement* element) {
  return only_of(element, &GstElement::sinkpads, &GstElement::numsinkpads);
}

GstClockTimeDiff offset_behind(GstPad* source) {
  GstClockTimeDiff offset = 0;
  PadRef pad(GST_PAD(gst_object_ref(source)));
  for (int i = 0; pad && i < kFarthest; ++i) {
    offset += gst_pad_get_offset(pad.get());
    const PadRef sink = linked_to(std::move(pad));
    if (!sink) break;
    offset += gst_pad_get_offset(sink.get());
    const ObjectRef<GstElement> element(gst_pad_get_parent_element(sink.get()));
    if (!element) break;
    if (g_object_class_find_property(G_OBJECT_GET_CLASS(element.get()), "ts-offset")) {
      gint64 own = 0;
      g_object_get(element.get(), "ts-offset", &own, nullptr);
      offset += own;
    }
    pad = only_source_of(element.get());
  }
  return offset;
}

std::vector<ObjectRef<GstElement>> elements_in_front_of(GstElement* element) {
  std::vector<ObjectRef<GstElement>> found;
  PadRef pad = only_sink_of(element);
  for (int i = 0; pad && i < kFarthest; ++i) {
    ObjectRef<GstElement> before = element_feeding(std::move(pad));
    if (!before) break;
    pad = only_sink_of(before.get());
    found.push_back(std::move(before));
  }
  return found;
}

/// The pad that sends caps keeps them before anybody is asked.
CapsRef sent_for_good(GstPad* sink, const GstCaps* asked) {
  PadRef pad(GST_PAD(gst_object_ref(sink)));
  for (int i = 0; pad && i < kFarthest; ++i) {
    const PadRef source = linked_to(std::move(pad));
    if (!source) break;
    CapsRef sent(gst_pad_get_current_caps(source.get()));
    if (sent && are_of_one_picture(asked, sent.get())) return sent;
    const ObjectRef<GstElement> element(gst_pad_get_parent_element(source.get()));
    pad = element ? only_sink_of(element.get()) : nullptr;
    if (pad && !GST_PAD_IS_PROXY_CAPS(pad.get()) && !keeps_pictures(element.get(), asked)) break;
  }
  return nullptr;
}

bool is_turned_in_front_of(GstElement* element) {
  const auto turns = [](const ObjectRef<GstElement>& before) {
    if (!GST_IS_VIDEO_DIRECTION(before.get())) return false;
    GstVideoOrientationMethod direction = GST_VIDEO_ORIENTATION_IDENTITY;
    g_object_get(before.get(), "video-direction", &direction, nullptr);
    return direction != GST_VIDEO_ORIENTATION_IDENTITY;
  };
  const auto before = elements_in_front_of(element);
  return std::any_of(before.begin(), before.end(), turns);
}

std::string_view factory_of(GstElement* element) {
  GstElementFactory* factory = gst_element_get_factory(element);
  return factory ? GST_OBJECT_NAME(factory) : "";
}

bool infers(GstElement* element) {
  const std::string_view name = factory_of(element);
  return name == "npuinfer" || name == "npuimport";
}

bool infers_objects(GstElement* inference) {
  GValue region = G_VALUE_INIT;
  g_object_get_property(G_OBJECT(inference), "inference-region", &region);
  const GEnumValue* value =
      g_enum_get_value(static_cast<GEnumClass*>(g_type_class_peek(G_VALUE_TYPE(&region))),
                       g_value_get_enum(&region));
  g_value_unset(&region);
  return value && std::string_view(value->value_nick) == "roi-list";
}

ObjectRef<GstElement> inference_in_front_of(GstElement* element) {
  for (ObjectRef<GstElement>& before : elements_in_front_of(element)) {
    if (infers(before.get())) return std::move(before);
  }
  return nullptr;
}

}  // namespace gstnpu
