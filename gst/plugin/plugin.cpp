#include "common/elements.hpp"
#include "common/unwinding.hpp"

#define PACKAGE "npucore"

namespace {

constexpr gstnpu::Registration kElements[] = {
    {"npucount", gstnpu::register_npucount},     {"npuimport", gstnpu::register_npuimport},
    {"npuinfer", gstnpu::register_npuinfer},     {"nputensordec", gstnpu::register_nputensordec},
    {"nputrack", gstnpu::register_nputrack},     {"npu", gstnpu::register_npu_tracer},
#ifdef GST_NPU_HAVE_OVERLAY
    {"npuoverlay", gstnpu::register_npuoverlay},
#endif
};

gboolean init_plugin(GstPlugin* plugin) {
  gstnpu::prepare_unwinding();
  for (const gstnpu::Registration& element : kElements) {
    if (!element.register_with(plugin)) return FALSE;
  }
  return TRUE;
}

}  // namespace

GST_PLUGIN_DEFINE(GST_VERSION_MAJOR, GST_VERSION_MINOR, npu, "Inference on Intel NPUs", init_plugin,
                  NPU_VERSION, "MIT/X11", "npucore", "npucore")
