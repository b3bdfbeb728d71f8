// The GObject of npuinfer and npuimport: pads, properties and states, in front of Element.
#pragma once

#include <gst/gst.h>

#include "common/gtype.hpp"

#include "element.hpp"

struct GstNpuBaseClass {
  GstElementClass parent_class;
  gstnpu::OpenSource open_source;
};

namespace gstnpu {

/// State of the GObject: its pads and properties, as an Element.
class BaseElement : public Element {
 public:
  BaseElement(GstElement* element, GstNpuBaseClass* klass);
};

using NpuBase = ObjectType<GstElement, GstNpuBaseClass, BaseElement>;

/// The abstract GType that npuinfer and npuimport derive from.
GType npu_base_type();

}  // namespace gstnpu
