#include "upstream.hpp"

namespace gstnpu {

using PadRef = ObjectRef<GstPad>;

PadRef feeding(PadRef pad) {
  for (int i = 0; pad && i < kFarthestUpstream; ++i) {
    PadRef peer(gst_pad_get_peer(pad.get()));
    while (peer && GST_IS_GHOST_PAD(peer.get())) {
      peer.reset(gst_ghost_pad_get_target(GST_GHOST_PAD(peer.get())));
    }
    if (!peer || !GST_IS_PROXY_PAD(peer.get())) return peer;
    pad.reset(GST_PAD(gst_proxy_pad_get_internal(GST_PROXY_PAD(peer.get()))));
  }
  return nullptr;
}

PadRef only_sink_of(GstElement* element) {
  GST_OBJECT_LOCK(element);
  PadRef sink(element->numsinkpads == 1 ? GST_PAD(gst_object_ref(element->sinkpads->data))
                                        : nullptr);
  GST_OBJECT_UNLOCK(element);
  return sink;
}

std::string_view factory_of(GstElement* element) {
  GstElementFactory* factory = gst_element_get_factory(element);
  return factory ? GST_OBJECT_NAME(factory) : "";
}

bool infers(GstElement* element) {
  const std::string_view name = factory_of(element);
  return name == "npuinfer" || name == "npuimport";
}

ObjectRef<GstElement> inference_in_front_of(GstPad* sink) {
  PadRef pad(GST_PAD(gst_object_ref(sink)));
  for (int i = 0; pad && i < kFarthestUpstream; ++i) {
    const PadRef source = feeding(std::move(pad));
    ObjectRef<GstElement> element(source ? gst_pad_get_parent_element(source.get()) : nullptr);
    if (!element || infers(element.get())) return element;
    pad = only_sink_of(element.get());
  }
  return nullptr;
}

}  // namespace gstnpu
