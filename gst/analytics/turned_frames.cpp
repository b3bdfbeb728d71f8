#include "turned_frames.hpp"

#include <gst/video/video.h>

#include <memory>

namespace gstnpu {
namespace {

struct Unref {
  void operator()(gpointer object) const { gst_object_unref(object); }
};
using PadRef = std::unique_ptr<GstPad, Unref>;
using ElementRef = std::unique_ptr<GstElement, Unref>;

constexpr int kFarthest = 64;  // elements; a pipeline that is being relinked may look endless

/// What feeds the pad, through the ghost pads of bins.
PadRef feeding(PadRef pad) {
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

/// Null where it has none, or several.
PadRef only_sink_of(GstElement* element) {
  GST_OBJECT_LOCK(element);
  PadRef sink(element->numsinkpads == 1 ? GST_PAD(gst_object_ref(element->sinkpads->data))
                                        : nullptr);
  GST_OBJECT_UNLOCK(element);
  return sink;
}

bool turns(GstElement* element) {
  if (!GST_IS_VIDEO_DIRECTION(element)) return false;
  GstVideoOrientationMethod method = GST_VIDEO_ORIENTATION_IDENTITY;
  g_object_get(element, "video-direction", &method, nullptr);
  return method != GST_VIDEO_ORIENTATION_IDENTITY && method != GST_VIDEO_ORIENTATION_AUTO;
}

bool infers(GstElement* element) {
  GstElementFactory* factory = gst_element_get_factory(element);
  const gchar* name = factory ? GST_OBJECT_NAME(factory) : "";
  return g_str_equal(name, "npuinfer") || g_str_equal(name, "npuimport");
}

}  // namespace

std::string turning_element(GstPad* sink) {
  PadRef pad(GST_PAD(gst_object_ref(sink)));
  for (int i = 0; pad && i < kFarthest; ++i) {
    const PadRef feeder = feeding(std::move(pad));
    const ElementRef element(feeder ? gst_pad_get_parent_element(feeder.get()) : nullptr);
    if (!element || infers(element.get())) return {};
    if (turns(element.get())) return GST_OBJECT_NAME(element.get());
    pad = only_sink_of(element.get());
  }
  return {};
}

}  // namespace gstnpu
