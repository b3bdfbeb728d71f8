// The GObject of npuinfer and npuimport: pads, properties and states, in front of InferenceElement.
#pragma once

#include <gst/gst.h>

#include "plugin/inference_element.hpp"

struct GstNpuBase {
  GstElement parent;
  gstnpu::InferenceElement* impl;  // owned
};

struct GstNpuBaseClass {
  GstElementClass parent_class;
  gstnpu::OpenSource open_source;
};

GType gst_npu_base_get_type();
/// "npuinfer": an IR. "npuimport": a precompiled blob.
GType gst_npu_infer_get_type();
GType gst_npu_import_get_type();
