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

/// What the GObject owns: its pads, and the Element behind them.
class BaseElement : public Element {
 public:
  BaseElement(GstElement* element, GstNpuBaseClass* klass);
};

using NpuBase = ObjectType<GstElement, GstNpuBaseClass, BaseElement>;

/// The abstract type of both.
GType npu_base_type();

}  // namespace gstnpu
