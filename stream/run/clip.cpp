#include "clip.hpp"

#include <gst/app/gstappsrc.h>

#include <algorithm>
#include <mutex>
#include <stdexcept>
#include <thread>
#include <utility>
#include <vector>

#include "clip_folder.hpp"
#include "on_main.hpp"

namespace npustream {
namespace {

namespace fs = std::filesystem;

// Bytes that the disk has not taken: a recorder's kept frames come at once, and are kept anyway.
constexpr guint64 kMostWaiting = 192U << 20U;

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

/// The clip and its thread share it. The thread outlives the clip where the disk hangs.
class Clip::Writer : public std::enable_shared_from_this<Writer> {
 public:
  Writer(ClipFile file, const GstCaps* caps, Clip* clip, Done done);
  ~Writer();
  Writer(const Writer&) = delete;
  Writer& operator=(const Writer&) = delete;

  void add(GstBuffer* placed);
  void end();
  void leave();  // the clip is destroyed
  /// The thread's work.
  static void write(std::shared_ptr<Writer> self);

 private:
  std::string play_into(const fs::path& unfinished);
  void begin_playing();
  void give_up();
  void wake();
  void drop_waiting();
  void tell(const fs::path& file, const std::string& error);

  const ClipFile file_;
  const Done done_;
  GstElement *pipeline_ = nullptr, *in_ = nullptr;
  Clip* clip_;  // null: destroyed. Used on the main context's thread
  bool is_told_ = false;
  std::mutex mutex_;                 // guards the rest
  std::vector<GstBuffer*> waiting_;  // while the file is opened
  guint64 waiting_bytes_ = 0;
  bool is_open_ = false, has_ended_ = false, is_given_up_ = false;
};

Clip::Writer::Writer(ClipFile file, const GstCaps* caps, Clip* clip, Done done)
    : file_(std::move(file)), done_(std::move(done)), clip_(clip) {
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
}

Clip::Writer::~Writer() {
  drop_waiting();
  gst_clear_object(&in_);
  gst_clear_object(&pipeline_);
}

void Clip::Writer::add(GstBuffer* placed) {
  const std::scoped_lock lock(mutex_);
  if (has_ended_) {
    gst_buffer_unref(placed);
  } else if (waiting_bytes_ + gst_app_src_get_current_level_bytes(GST_APP_SRC(in_)) >
             kMostWaiting) {
    gst_buffer_unref(placed);
    give_up();
    on_main([self = shared_from_this()] {
      self->tell({}, "the disk is slower than the frames, or does not answer");
    });
  } else if (is_open_) {
    gst_app_src_push_buffer(GST_APP_SRC(in_), placed);
  } else {
    waiting_.push_back(placed);
    waiting_bytes_ += gst_buffer_get_size(placed);
  }
}

void Clip::Writer::end() {
  const std::scoped_lock lock(mutex_);
  if (!std::exchange(has_ended_, true) && is_open_) {
    gst_app_src_end_of_stream(GST_APP_SRC(in_));
  }
}

void Clip::Writer::leave() {
  clip_ = nullptr;
  if (is_told_) return;
  const std::scoped_lock lock(mutex_);
  give_up();
}

/// With the mutex held.
void Clip::Writer::give_up() {
  if (std::exchange(is_given_up_, true)) return;
  has_ended_ = true;
  drop_waiting();
  if (is_open_) {
    wake();
  }
}

void Clip::Writer::wake() {
  GST_ELEMENT_ERROR(pipeline_, RESOURCE, WRITE, ("given up"), (nullptr));
}

void Clip::Writer::drop_waiting() {
  for (GstBuffer* frame : waiting_) gst_buffer_unref(frame);
  waiting_.clear();
  waiting_bytes_ = 0;
}

void Clip::Writer::write(std::shared_ptr<Writer> self) {
  fs::path file;
  std::string error;
  try {
    file = self->file_.make();
    const fs::path unfinished = file.string() + ClipFolder::kUnfinished;
    error = self->play_into(unfinished);
    if (error.empty()) {
      fs::rename(unfinished, file);
      self->file_.written(file);
    } else {
      std::error_code ignored;
      fs::remove(unfinished, ignored);
    }
  } catch (const std::exception& failure) {
    error = failure.what();
  }
  on_main([self = std::move(self), file, error] { self->tell(file, error); });
}

/// Returns why the file is not whole.
std::string Clip::Writer::play_into(const fs::path& unfinished) {
  GstElement* const sink = gst_bin_get_by_name(GST_BIN(pipeline_), "file");
  g_object_set(sink, "location", unfinished.c_str(), nullptr);
  gst_object_unref(sink);
  gst_element_set_state(pipeline_, GST_STATE_PLAYING);  // a failure is on the bus, too
  begin_playing();
  GstBus* const bus = gst_element_get_bus(pipeline_);
  GstMessage* const last = gst_bus_timed_pop_filtered(
      bus, GST_CLOCK_TIME_NONE, static_cast<GstMessageType>(GST_MESSAGE_EOS | GST_MESSAGE_ERROR));
  std::string text;
  if (GST_MESSAGE_TYPE(last) == GST_MESSAGE_ERROR) {
    GError* error = nullptr;
    gst_message_parse_error(last, &error, nullptr);
    text = unfinished.parent_path().string() + ": " + error->message;
    g_error_free(error);
  }
  gst_message_unref(last);
  gst_object_unref(bus);
  gst_element_set_state(pipeline_, GST_STATE_NULL);
  return text;
}

void Clip::Writer::begin_playing() {
  const std::scoped_lock lock(mutex_);
  is_open_ = true;
  for (GstBuffer* frame : std::exchange(waiting_, {})) {
    gst_app_src_push_buffer(GST_APP_SRC(in_), frame);
  }
  waiting_bytes_ = 0;
  if (is_given_up_) {
    wake();
  } else if (has_ended_) {
    gst_app_src_end_of_stream(GST_APP_SRC(in_));
  }
}

void Clip::Writer::tell(const fs::path& file, const std::string& error) {
  if (!clip_ || std::exchange(is_told_, true)) return;
  done_(*clip_, file, error);  // may destroy the clip
}

Clip::Clip(ClipFile file, const GstCaps* caps, Done done)
    : writer_(std::make_shared<Writer>(std::move(file), caps, this, std::move(done))) {
  std::thread(Writer::write, writer_).detach();
}

Clip::~Clip() {
  writer_->leave();
}

void Clip::add(GstBuffer* frame, GstClockTime time) {
  first_ = std::exchange(is_empty_, false) ? time : first_;
  last_ = std::max(last_, time);
  GstBuffer* const placed = gst_buffer_copy(frame);
  GST_BUFFER_PTS(placed) = time - std::min(first_, time);
  GST_BUFFER_DTS(placed) = GST_CLOCK_TIME_NONE;
  writer_->add(placed);
}

void Clip::end(std::string causes) {
  causes_ = std::move(causes);
  writer_->end();
}

}  // namespace npustream
