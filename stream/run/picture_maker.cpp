#include "picture_maker.hpp"

#include <gst/app/gstappsink.h>
#include <gst/app/gstappsrc.h>

#include <algorithm>
#include <array>
#include <mutex>
#include <stdexcept>

namespace npustream {

struct PictureMaker::Shared {
  ~Shared() { gst_clear_object(&in); }
  GstAppSrc* in = nullptr;  // a reference: a frame may pass while the maker ends
  std::mutex mutex;         // guards the rest
  PicturePtr picture;
  gint64 fed_us = 0;
};

namespace {

constexpr gint64 kIdleUs = 3 * G_USEC_PER_SEC,
                 kLeastUs = 90000;  // a frame's jitter below a tenth of a second

std::string words_of(const std::string& overlay, int width) {
  std::string words = "appsrc name=in is-live=true format=time max-buffers=1 leaky-type=downstream";
  if (width > 0) {
    words +=
        " ! videoscale ! video/x-raw,width=" + std::to_string(width) + ",pixel-aspect-ratio=1/1";
  }
  if (!overlay.empty()) {
    words += " ! " + overlay;
  }
  return words +
         " ! videoconvert ! jpegenc quality=80 ! appsink name=out sync=false max-buffers=1 "
         "drop=true";
}

}  // namespace

PictureMaker::PictureMaker(GstElement* sink, const std::string& overlay, int width)
    : shared_(std::make_shared<Shared>()) {
  GError* error = nullptr;
  pipeline_ = gst_parse_launch(words_of(overlay, width).c_str(), &error);
  if (error) {
    const std::string text = error->message;
    g_error_free(error);
    if (pipeline_) {
      gst_object_unref(pipeline_);
    }
    throw std::runtime_error("pictures cannot be made: " + text);
  }
  GstElement* const in = gst_bin_get_by_name(GST_BIN(pipeline_), "in");
  GstElement* const out = gst_bin_get_by_name(GST_BIN(pipeline_), "out");
  shared_->in = GST_APP_SRC(in);
  using Holder = std::shared_ptr<Shared>;
  const auto free_holder = [](gpointer holder) { delete static_cast<Holder*>(holder); };

  GstAppSinkCallbacks callbacks = {};
  callbacks.new_sample = [](GstAppSink* appsink, gpointer data) {
    GstSample* const sample = gst_app_sink_pull_sample(appsink);
    if (!sample) return GST_FLOW_EOS;
    auto picture = std::make_shared<Picture>();
    GstMapInfo map;
    if (gst_buffer_map(gst_sample_get_buffer(sample), &map, GST_MAP_READ)) {
      picture->jpeg.assign(reinterpret_cast<const char*>(map.data), map.size);
      gst_buffer_unmap(gst_sample_get_buffer(sample), &map);
    }
    gst_sample_unref(sample);
    Shared& shared = **static_cast<Holder*>(data);
    const std::scoped_lock lock(shared.mutex);
    picture->number = shared.picture ? shared.picture->number + 1 : 1;
    shared.picture = std::move(picture);
    return GST_FLOW_OK;
  };
  gst_app_sink_set_callbacks(GST_APP_SINK(out), &callbacks, new Holder(shared_), free_holder);

  const auto feed = [](GstPad* pad, GstPadProbeInfo* info, gpointer data) {
    Shared& shared = **static_cast<Holder*>(data);
    const gint64 now = g_get_monotonic_time();
    {
      const std::scoped_lock lock(shared.mutex);
      if (now - shared.fed_us < kLeastUs) return GST_PAD_PROBE_OK;
      shared.fed_us = now;
    }
    GstCaps* const caps = gst_pad_get_current_caps(pad);
    GstSample* const sample =
        gst_sample_new(GST_PAD_PROBE_INFO_BUFFER(info), caps, nullptr, nullptr);
    gst_app_src_push_sample(shared.in, sample);
    gst_sample_unref(sample);
    if (caps) {
      gst_caps_unref(caps);
    }
    return GST_PAD_PROBE_OK;
  };
  gst_element_set_state(pipeline_, GST_STATE_PLAYING);
  GstSample* last = nullptr;
  g_object_get(sink, "last-sample", &last, nullptr);
  if (last) {
    gst_app_src_push_sample(shared_->in, last);
    gst_sample_unref(last);
  }
  pad_ = gst_element_get_static_pad(sink, "sink");
  probe_ =
      gst_pad_add_probe(pad_, GST_PAD_PROBE_TYPE_BUFFER, feed, new Holder(shared_), free_holder);
  gst_object_unref(out);
}

PictureMaker::~PictureMaker() {
  gst_pad_remove_probe(pad_, probe_);
  gst_object_unref(pad_);
  gst_element_set_state(pipeline_, GST_STATE_NULL);
  gst_object_unref(pipeline_);
}

PicturePtr PictureMaker::ask() {
  asked_us_ = g_get_monotonic_time();
  const std::scoped_lock lock(shared_->mutex);
  return shared_->picture;
}

bool PictureMaker::is_idle() const {
  return g_get_monotonic_time() - asked_us_ > kIdleUs;
}

int picture_width(int wanted) {
  constexpr std::array kWidths = {160, 320, 480, 640, 960, 1280, 1920, 3840};
  if (wanted <= 0) return 0;
  const auto* const found = std::lower_bound(kWidths.begin(), kWidths.end(), wanted);
  return found == kWidths.end() ? kWidths.back() : *found;
}

}  // namespace npustream
