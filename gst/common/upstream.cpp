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
bool is_asked_for_good(GstPad* sink, const GstCaps* caps) {
  PadRef pad(GST_PAD(gst_object_ref(sink)));
  for (int i = 0; pad && i < kFarthest; ++i) {
    const PadRef source = linked_to(std::move(pad));
    if (!source) return false;
    const CapsRef sent(gst_pad_get_current_caps(source.get()));
    if (sent && gst_caps_is_equal(sent.get(), caps)) return true;
    const ObjectRef<GstElement> element(gst_pad_get_parent_element(source.get()));
    pad = element ? only_sink_of(element.get()) : nullptr;
    if (pad && !GST_PAD_IS_PROXY_CAPS(pad.get())) return false;
  }
  return false;
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

ObjectRef<GstElement> inference_in_front_of(GstElement* element) {
  for (ObjectRef<GstElement>& before : elements_in_front_of(element)) {
    if (infers(before.get())) return std::move(before);
  }
  return nullptr;
}

}  // namespace gstnpu
