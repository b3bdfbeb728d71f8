// A pipeline of a soak.
#pragma once

#include <gst/gst.h>

#include <stdexcept>
#include <string>

namespace npu::test {

class Pipeline {
 public:
  explicit Pipeline(const std::string& line) : pipeline_(gst_parse_launch(line.c_str(), nullptr)) {
    if (pipeline_ == nullptr) throw std::runtime_error("no pipeline: " + line);
  }
  Pipeline(const Pipeline&) = delete;
  Pipeline& operator=(const Pipeline&) = delete;
  ~Pipeline() {
    gst_element_set_state(pipeline_, GST_STATE_NULL);
    gst_object_unref(pipeline_);
  }

  void set_state(GstState state) {
    constexpr GstClockTime kPatience = 60 * GST_SECOND;
    if (gst_element_set_state(pipeline_, state) == GST_STATE_CHANGE_FAILURE ||
        gst_element_get_state(pipeline_, nullptr, nullptr, kPatience) != GST_STATE_CHANGE_SUCCESS) {
      throw std::runtime_error(std::string("the pipeline does not come to ") +
                               gst_element_state_get_name(state));
    }
  }
  GstElement* get() const { return pipeline_; }
  void seek_to_start() {
    gst_element_seek_simple(pipeline_, GST_FORMAT_TIME, GST_SEEK_FLAG_FLUSH, 0);
  }
  void wait_for_end() {
    GstBus* bus = gst_element_get_bus(pipeline_);
    GstMessage* message = gst_bus_timed_pop_filtered(
        bus, 60 * GST_SECOND, static_cast<GstMessageType>(GST_MESSAGE_EOS | GST_MESSAGE_ERROR));
    const bool ended = message != nullptr && GST_MESSAGE_TYPE(message) == GST_MESSAGE_EOS;
    if (message != nullptr) {
      gst_message_unref(message);
    }
    gst_object_unref(bus);
    if (!ended) throw std::runtime_error("the stream did not come to its end");
  }

 private:
  GstElement* pipeline_;
};

}  // namespace npu::test
