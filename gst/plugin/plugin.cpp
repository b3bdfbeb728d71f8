#include "common/elements.hpp"

#define PACKAGE "npucore"

namespace {

constexpr gstnpu::Registration kElements[] = {
    {"npuimport", gstnpu::register_npuimport},
    {"npuinfer", gstnpu::register_npuinfer},
    {"npupublish", gstnpu::register_npupublish},
    {"nputensordec", gstnpu::register_nputensordec},
};

gboolean init_plugin(GstPlugin* plugin) {
  for (const gstnpu::Registration& element : kElements) {
    if (!element.register_with(plugin)) return FALSE;
  }
  return TRUE;
}

}  // namespace

GST_PLUGIN_DEFINE(GST_VERSION_MAJOR, GST_VERSION_MINOR, npu, "Inference on Intel NPUs", init_plugin,
                  NPU_VERSION, "MIT/X11", "npucore", "npucore")
