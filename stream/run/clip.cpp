#include "clip.hpp"

#include <gst/app/gstappsrc.h>

#include <algorithm>
#include <stdexcept>
#include <utility>

#include "clip_folder.hpp"

namespace npustream {
namespace {

constexpr guint64 kMostWaiting = 64U << 20U;  // bytes that a slow disk has not taken

/// The parsers give decoder data in the form that Matroska has, whatever form the camera sends.
std::string words_of(const GstCaps* caps) {
  const std::string type = gst_structure_get_name(gst_caps_get_structure(caps, 0));
  std::string parser;
  if (type == "video/x-h264") {
    parser = "h264parse ! ";
  } else if (type == "video/x-h265") {
    parser = "h265parse ! ";
  }
  return "appsrc name=in format=time max-bytes=0 ! " + parser +
         "matroskamux writing-app=npu-stream ! filesink name=file";
}

}  // namespace

Clip::Clip(std::filesystem::path file, const GstCaps* caps, Done done)
    : file_(std::move(file)), done_(std::move(done)) {
  GError* error = nullptr;
  pipeline_ = gst_parse_launch(words_of(caps).c_str(), &error);
  if (error) {
    const std::string text = error->message;
    g_error_free(error);
    gst_clear_object(&pipeline_);
    throw std::runtime_error(text);
  }
  in_ = gst_bin_get_by_name(GST_BIN(pipeline_), "in");
  g_object_set(in_, "caps", caps, nullptr);
  GstElement* const sink = gst_bin_get_by_name(GST_BIN(pipeline_), "file");
  g_object_set(sink, "location", unfinished().c_str(), nullptr);
  gst_object_unref(sink);
  GstBus* const bus = gst_element_get_bus(pipeline_);
  const auto handle = [](GstBus*, GstMessage* message, gpointer self) -> gboolean {
    static_cast<Clip*>(self)->on_message(message);
    return G_SOURCE_CONTINUE;
  };
  watch_ = gst_bus_add_watch(bus, handle, this);
  gst_object_unref(bus);
  gst_element_set_state(pipeline_, GST_STATE_PLAYING);  // a failure is on the bus, too
}

Clip::~Clip() {
  if (watch_) {
    g_source_remove(watch_);
  }
  gst_element_set_state(pipeline_, GST_STATE_NULL);
  gst_object_unref(in_);
  gst_object_unref(pipeline_);
}

std::filesystem::path Clip::unfinished() const {
  return file_.string() + ClipFolder::kUnfinished;
}

void Clip::add(GstBuffer* frame, GstClockTime time) {
  if (has_ended_) return;
  if (gst_app_src_get_current_level_bytes(GST_APP_SRC(in_)) > kMostWaiting) {
    has_ended_ = true;
    GST_ELEMENT_ERROR(pipeline_, RESOURCE, WRITE, ("the disk is slower than the frames"),
                      (nullptr));
    return;
  }
  first_ = frames_ == 0 ? time : first_;
  last_ = std::max(last_, time);
  ++frames_;
  GstBuffer* const placed = gst_buffer_copy(frame);
  GST_BUFFER_PTS(placed) = time - std::min(first_, time);
  GST_BUFFER_DTS(placed) = GST_CLOCK_TIME_NONE;
  gst_app_src_push_buffer(GST_APP_SRC(in_), placed);
}

void Clip::end(std::string causes) {
  causes_ = std::move(causes);
  if (!std::exchange(has_ended_, true)) {
    gst_app_src_end_of_stream(GST_APP_SRC(in_));
  }
}

void Clip::on_message(GstMessage* message) {
  if (GST_MESSAGE_TYPE(message) == GST_MESSAGE_EOS) {
    finish("");
  } else if (GST_MESSAGE_TYPE(message) == GST_MESSAGE_ERROR) {
    GError* error = nullptr;
    gst_message_parse_error(message, &error, nullptr);
    const std::string text = error->message;
    g_error_free(error);
    finish(text);
  }
}

void Clip::finish(const std::string& error) {
  g_source_remove(std::exchange(watch_, 0));
  gst_element_set_state(pipeline_, GST_STATE_NULL);
  std::error_code failure;
  if (error.empty()) {
    std::filesystem::rename(unfinished(), file_, failure);
  } else {
    std::filesystem::remove(unfinished(), failure);
    failure.clear();
  }
  const Done done = std::move(done_);
  done(*this, failure ? failure.message() : error);  // may destroy this
}

}  // namespace npustream
