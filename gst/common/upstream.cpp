#include "upstream.hpp"

#include <utility>

namespace gstnpu {
namespace {

using PadRef = ObjectRef<GstPad>;

/// Longest search in elements: a pipeline that is being relinked may look endless.
constexpr int kFarthestUpstream = 64;

/// The pad that feeds this one, through the ghost pads of bins; null where there is none. `pad` may
/// be null.
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

/// The element whose pad feeds this one; null where there is none. `pad` may be null.
ObjectRef<GstElement> element_feeding(PadRef pad) {
  const PadRef source = feeding(std::move(pad));
  return ObjectRef<GstElement>(source ? gst_pad_get_parent_element(source.get()) : nullptr);
}

}  // namespace

PadRef only_sink_of(GstElement* element) {
  GST_OBJECT_LOCK(element);
  PadRef sink(element->numsinkpads == 1 ? GST_PAD(gst_object_ref(element->sinkpads->data))
                                        : nullptr);
  GST_OBJECT_UNLOCK(element);
  return sink;
}

std::vector<ObjectRef<GstElement>> elements_in_front_of(GstElement* element) {
  std::vector<ObjectRef<GstElement>> found;
  PadRef pad = only_sink_of(element);
  for (int i = 0; pad && i < kFarthestUpstream; ++i) {
    ObjectRef<GstElement> before = element_feeding(std::move(pad));
    if (!before) break;
    pad = only_sink_of(before.get());
    found.push_back(std::move(before));
  }
  return found;
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
