#include <exception>

#include "common/elements.hpp"

#define PACKAGE "npucore"

namespace {

constexpr gstnpu::Registration kElements[] = {
    {"npucount", gstnpu::register_npucount},
    {"npuimport", gstnpu::register_npuimport},
    {"npuinfer", gstnpu::register_npuinfer},
    {"npupublish", gstnpu::register_npupublish},
    {"nputensordec", gstnpu::register_nputensordec},
    {"nputrack", gstnpu::register_nputrack},
    {"npu", gstnpu::register_npu_tracer},
#ifdef GST_NPU_HAVE_OVERLAY
    {"npuoverlay", gstnpu::register_npuoverlay},
#endif
};

/// GStreamer brings libunwind, whose unwinder then stands before the compiler's and opens a pipe
/// for the first exception: without a descriptor left, that exception would end the process.
void prepare_unwinding() {
  try {
    throw std::exception();
  } catch (const std::exception&) {
    // Now it has its pipe.
  }
}

gboolean init_plugin(GstPlugin* plugin) {
  prepare_unwinding();
  for (const gstnpu::Registration& element : kElements) {
    if (!element.register_with(plugin)) return FALSE;
  }
  return TRUE;
}

}  // namespace

GST_PLUGIN_DEFINE(GST_VERSION_MAJOR, GST_VERSION_MINOR, npu, "Inference on Intel NPUs", init_plugin,
                  NPU_VERSION, "MIT/X11", "npucore", "npucore")
