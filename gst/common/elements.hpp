// The elements of the plugin: one line each, here and in plugin.cpp.
#pragma once

#include <gst/gst.h>

namespace gstnpu {

/// One entry of the plugin's list. `register_with` returns FALSE when the type cannot be
/// registered.
struct Registration {
  const char* name;
  gboolean (*register_with)(GstPlugin* plugin);
};

gboolean register_npucount(GstPlugin* plugin);
gboolean register_npuimport(GstPlugin* plugin);
gboolean register_npuinfer(GstPlugin* plugin);
gboolean register_npuoverlay(GstPlugin* plugin);
/// In a plugin of its own.
gboolean register_npupublish(GstPlugin* plugin);
gboolean register_nputensordec(GstPlugin* plugin);
gboolean register_nputrack(GstPlugin* plugin);
/// The tracer, which is no element.
gboolean register_npu_tracer(GstPlugin* plugin);

}  // namespace gstnpu
