#include "pipeline.hpp"

#include <meta/npumeta.h>

#include <stdexcept>

namespace npu::test {

bool filters_tell() {
  guint major = 0, minor = 0, micro = 0, nano = 0;
  gst_version(&major, &minor, &micro, &nano);
  return major > 1 || minor >= 28;
}

Pipeline::Pipeline(const std::string& line) {
  GError* error = nullptr;
  pipeline_ = gst_parse_launch(line.c_str(), &error);
  if (error || !pipeline_) {
    const std::string why = error ? error->message : "no pipeline";
    g_clear_error(&error);
    throw std::runtime_error(line + ": " + why);
  }
  gst_object_ref_sink(pipeline_);
  watch_output();
}

Pipeline::~Pipeline() {
  gst_element_set_state(pipeline_, GST_STATE_NULL);
  gst_object_unref(pipeline_);
  if (stats_) {
    gst_structure_free(stats_);
  }
}

void Pipeline::watch_output() {
  GstElement* out = gst_bin_get_by_name(GST_BIN(pipeline_), "out");
  GstPad* pad = gst_element_get_static_pad(out, "sink");
  gst_pad_add_probe(
      pad, GST_PAD_PROBE_TYPE_BUFFER,
      [](GstPad*, GstPadProbeInfo* info, gpointer self_) {
        auto& self = *static_cast<Pipeline*>(self_);
        GstBuffer* buffer = GST_PAD_PROBE_INFO_BUFFER(info);
        const std::scoped_lock lock(self.mutex_);
        self.arrived_.times.push_back(GST_BUFFER_PTS(buffer));
        if (gst_npu_buffer_get_num_tensors(buffer) > 0) {
          ++self.arrived_.with_tensors;
        }
        return GST_PAD_PROBE_OK;
      },
      this, nullptr);
  gst_object_unref(pad);
  gst_object_unref(out);
}

bool Pipeline::set_state(GstState state) {
  gst_element_set_state(pipeline_, state);
  const GstStateChangeReturn result =
      gst_element_get_state(pipeline_, nullptr, nullptr, 60 * GST_SECOND);
  return result == GST_STATE_CHANGE_SUCCESS || result == GST_STATE_CHANGE_NO_PREROLL;
}

std::string Pipeline::wait() {
  GstBus* bus = gst_element_get_bus(pipeline_);
  GstMessage* message = gst_bus_timed_pop_filtered(
      bus, 60 * GST_SECOND, static_cast<GstMessageType>(GST_MESSAGE_EOS | GST_MESSAGE_ERROR));
  gst_object_unref(bus);
  std::string outcome = "timeout";
  if (message && GST_MESSAGE_TYPE(message) == GST_MESSAGE_EOS) {
    outcome = "eos";
  }
  if (message && GST_MESSAGE_TYPE(message) == GST_MESSAGE_ERROR) {
    GError* error = nullptr;
    gst_message_parse_error(message, &error, nullptr);
    outcome = error->message;
    g_error_free(error);
  }
  if (message) {
    gst_message_unref(message);
  }
  return outcome;
}

std::string Pipeline::play_to_the_end() {
  gst_element_set_state(pipeline_, GST_STATE_PLAYING);
  const std::string outcome = wait();
  read_stats();
  gst_element_set_state(pipeline_, GST_STATE_NULL);
  return outcome;
}

bool Pipeline::seek(GstClockTime time) {
  return gst_element_seek_simple(
      pipeline_, GST_FORMAT_TIME,
      static_cast<GstSeekFlags>(GST_SEEK_FLAG_FLUSH | GST_SEEK_FLAG_ACCURATE),
      static_cast<gint64>(time));
}

Arrived Pipeline::arrived() const {
  const std::scoped_lock lock(mutex_);
  return arrived_;
}

void Pipeline::forget_arrived() {
  const std::scoped_lock lock(mutex_);
  arrived_ = {};
}

void Pipeline::read_stats() {
  if (stats_) {
    gst_structure_free(stats_);
  }
  GstElement* npu = gst_bin_get_by_name(GST_BIN(pipeline_), "npu");
  g_object_get(npu, "stats", &stats_, nullptr);
  gst_object_unref(npu);
}

guint64 Pipeline::stat(const char* field) {
  GstState state = GST_STATE_NULL;
  gst_element_get_state(pipeline_, &state, nullptr, 0);
  if (state >= GST_STATE_PAUSED || !stats_) {
    read_stats();
  }
  guint64 value = G_MAXUINT64;
  gst_structure_get_uint64(stats_, field, &value);
  return value;
}

}  // namespace npu::test
