#include "chain.hpp"

#include <chrono>
#include <cstdlib>
#include <stdexcept>
#include <string>
#include <thread>

namespace npu::test {
namespace {

constexpr guint64 kFramesAtOnce = 10;

std::string shapes_folder() {
  const char* folder = std::getenv("NPU_SHAPES_FOLDER");
  if (folder == nullptr) throw std::runtime_error("set NPU_SHAPES_FOLDER to models/shapes");
  return folder;
}

/// As pictures that a source can begin again without a seek, which would reset the elements.
void write_clip(const std::string& pictures) {
  Pipeline writing("filesrc location=\"" + shapes_folder() +
                   "/shapes.mp4\" ! decodebin ! jpegenc ! multifilesink location=" + pictures);
  writing.set_state(GST_STATE_PLAYING);
  writing.wait_for_end();
}

/// Whether the plugin was built with what such a location needs, and its library is there.
bool can_publish_to(const std::string& location) {
  Pipeline pipeline("fakesrc ! npupublish location=" + location + " ! fakesink");
  const bool can =
      gst_element_set_state(pipeline.get(), GST_STATE_READY) != GST_STATE_CHANGE_FAILURE &&
      gst_element_set_state(pipeline.get(), GST_STATE_PAUSED) != GST_STATE_CHANGE_FAILURE;
  return can;
}

/// To a file, and to places where nobody is: an outage that never ends.
std::string publishers(const std::string& folder) {
  std::string line = " ! npupublish location=/dev/null";
  for (const std::string& location :
       {"unix:" + folder + "/nobody", std::string("mqtt://127.0.0.1:1/t"),
        std::string("kafka://127.0.0.1:1/t")}) {
    if (!can_publish_to(location)) continue;
    line += " ! npupublish policy=drop-old queue-size=100 drain-time=0 location=" + location;
  }
  return line;
}

/// Takes messages off the bus, which would grow otherwise.
void take_messages(GstElement* pipeline) {
  GstBus* bus = gst_element_get_bus(pipeline);
  std::string said;
  while (GstMessage* message = gst_bus_pop(bus)) {
    if (GST_MESSAGE_TYPE(message) == GST_MESSAGE_ERROR) {
      GError* error = nullptr;
      gst_message_parse_error(message, &error, nullptr);
      said = error->message;
      g_error_free(error);
    }
    gst_message_unref(message);
  }
  gst_object_unref(bus);
  if (!said.empty()) throw std::runtime_error("the chain has failed: " + said);
}

guint64 frames_out(GstElement* pipeline) {
  GstElement* sink = gst_bin_get_by_name(GST_BIN(pipeline), "out");
  GstStructure* stats = nullptr;
  g_object_get(sink, "stats", &stats, nullptr);
  guint64 frames = 0;
  gst_structure_get_uint64(stats, "rendered", &frames);
  gst_structure_free(stats);
  gst_object_unref(sink);
  return frames;
}

}  // namespace

Chain::Chain(const std::filesystem::path& folder) {
  const std::string pictures = folder / "%05d.jpg";
  write_clip(pictures);
  pipeline_.emplace("multifilesrc loop=true caps=image/jpeg,framerate=30/1 location=" + pictures +
                    " ! jpegdec ! npuinfer device=software inference-interval=2 model=\"" +
                    shapes_folder() + "/shapes.xml\" ! nputensordec threshold=0.2 ! nputrack ! " +
                    "npucount anchor=center location=\"" + shapes_folder() +
                    "/../../pipelines/middle.json\" ! " +
                    "npuoverlay mode=draw trail-length=1000 statistics=true" +
                    publishers(folder.string()) + " ! fakesink name=out sync=false");
}

void Chain::play() {
  const auto end = std::chrono::steady_clock::now() + std::chrono::minutes(5);
  pipeline_->set_state(GST_STATE_PLAYING);
  for (played_ += kFramesAtOnce; frames_out(pipeline_->get()) < played_;) {
    take_messages(pipeline_->get());
    if (std::chrono::steady_clock::now() > end) {
      throw std::runtime_error("the chain gave no " + std::to_string(kFramesAtOnce) +
                               " frames in 5 minutes");
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  pipeline_->set_state(GST_STATE_PAUSED);
  take_messages(pipeline_->get());
}

}  // namespace npu::test
