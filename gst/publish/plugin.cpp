#include "common/elements.hpp"
#include "common/unwinding.hpp"

#define PACKAGE "npucore"

namespace {

gboolean init_plugin(GstPlugin* plugin) {
  gstnpu::prepare_unwinding();
  return gstnpu::register_npupublish(plugin);
}

}  // namespace

GST_PLUGIN_DEFINE(GST_VERSION_MAJOR, GST_VERSION_MINOR, npupublish,
                  "Publishes what NPUs found: files, sockets, MQTT, Kafka", init_plugin,
                  NPU_VERSION, "MIT/X11", "npucore", "npucore")
