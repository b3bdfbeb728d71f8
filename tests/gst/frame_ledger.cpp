#include "frame_ledger.hpp"

#include "element_harness.hpp"

namespace gstnpu::test {
namespace {

constexpr std::uint64_t kMarkEvery = 7;  // frames
constexpr const char* kMarkName = "ledger-mark";

guint8 painting_of(GstBuffer* buffer) {
  return static_cast<guint8>(gst_util_uint64_scale_round(GST_BUFFER_PTS(buffer), 30, GST_SECOND) %
                             251);
}

GstEvent* make_mark(std::uint64_t number) {
  return gst_event_new_custom(
      GST_EVENT_CUSTOM_DOWNSTREAM,
      gst_structure_new(kMarkName, "number", G_TYPE_UINT64, static_cast<guint64>(number), nullptr));
}

bool read_mark(GstEvent* event, guint64* number) {
  return gst_event_has_name(event, kMarkName) &&
         gst_structure_get_uint64(gst_event_get_structure(event), "number", number);
}

constexpr auto kWatched =
    static_cast<GstPadProbeType>(GST_PAD_PROBE_TYPE_BUFFER | GST_PAD_PROBE_TYPE_EVENT_DOWNSTREAM |
                                 GST_PAD_PROBE_TYPE_EVENT_FLUSH);

}  // namespace

FrameLedger::FrameLedger(GstElement* element, bool check_tensors)
    : sink_(gst_element_get_static_pad(element, "sink")),
      src_(gst_element_get_static_pad(element, "src")),
      check_tensors_(check_tensors) {
  sink_probe_ = gst_pad_add_probe(sink_, kWatched, on_input, this, nullptr);
  src_probe_ = gst_pad_add_probe(src_, kWatched, on_output, this, nullptr);
}

FrameLedger::~FrameLedger() {
  gst_pad_remove_probe(sink_, sink_probe_);
  gst_pad_remove_probe(src_, src_probe_);
  gst_object_unref(sink_);
  gst_object_unref(src_);
}

void FrameLedger::expect_losses() {
  const std::scoped_lock lock(mutex_);
  may_lose_ = true;
}

void FrameLedger::restart() {
  const std::scoped_lock lock(mutex_);
  waiting_.clear();
  may_lose_ = false;
}

bool FrameLedger::wait_for_frames(std::uint64_t count, unsigned seconds) {
  std::unique_lock lock(mutex_);
  const std::uint64_t wanted = frames_out_ + count;
  return came_out_.wait_for(lock, std::chrono::seconds(seconds),
                            [&] { return frames_out_ >= wanted; });
}

std::uint64_t FrameLedger::frames_out() const {
  const std::scoped_lock lock(mutex_);
  return frames_out_;
}

std::uint64_t FrameLedger::marks_out() const {
  const std::scoped_lock lock(mutex_);
  return marks_out_;
}

std::vector<std::string> FrameLedger::complaints() const {
  const std::scoped_lock lock(mutex_);
  return complaints_;
}

GstPadProbeReturn FrameLedger::on_input(GstPad* pad, GstPadProbeInfo* info, gpointer self) {
  auto* ledger = static_cast<FrameLedger*>(self);
  if (GST_PAD_PROBE_INFO_TYPE(info) & GST_PAD_PROBE_TYPE_BUFFER) {
    ledger->frame_in(info);
  } else {
    ledger->event_in(pad, GST_PAD_PROBE_INFO_EVENT(info));
  }
  return GST_PAD_PROBE_OK;
}

GstPadProbeReturn FrameLedger::on_output(GstPad*, GstPadProbeInfo* info, gpointer self) {
  auto* ledger = static_cast<FrameLedger*>(self);
  if (GST_PAD_PROBE_INFO_TYPE(info) & GST_PAD_PROBE_TYPE_BUFFER) {
    ledger->frame_out(GST_PAD_PROBE_INFO_BUFFER(info));
  } else {
    ledger->event_out(GST_PAD_PROBE_INFO_EVENT(info));
  }
  return GST_PAD_PROBE_OK;
}

void FrameLedger::frame_in(GstPadProbeInfo* info) {
  GstBuffer* buffer = gst_buffer_make_writable(GST_PAD_PROBE_INFO_BUFFER(info));
  GST_PAD_PROBE_INFO_DATA(info) = buffer;
  gst_buffer_memset(buffer, 0, painting_of(buffer), gst_buffer_get_size(buffer));
  bool mark = false;
  std::uint64_t number = 0;
  {
    const std::scoped_lock lock(mutex_);
    mark = ++frames_in_ % kMarkEvery == 0;
    if (mark) {
      number = ++marks_in_;
    }
  }
  // Through the element's own event function, and so through event_in(): a mark stands before its
  // frame.
  if (mark) {
    gst_pad_send_event(sink_, make_mark(number));
  }
  const std::scoped_lock lock(mutex_);
  waiting_.push_back({.is_mark = false, .number = GST_BUFFER_PTS(buffer)});
}

void FrameLedger::event_in(GstPad*, GstEvent* event) {
  guint64 number = 0;
  const std::scoped_lock lock(mutex_);
  if (GST_EVENT_TYPE(event) == GST_EVENT_FLUSH_STOP) {
    waiting_.clear();
  }
  if (read_mark(event, &number)) {
    waiting_.push_back({.is_mark = true, .number = number});
  }
}

void FrameLedger::frame_out(GstBuffer* buffer) {
  {
    const std::scoped_lock lock(mutex_);
    ++frames_out_;
    expect_next({.is_mark = false, .number = GST_BUFFER_PTS(buffer)});
  }
  if (check_tensors_) {
    check_painting(buffer);
  }
  came_out_.notify_all();
}

void FrameLedger::event_out(GstEvent* event) {
  guint64 number = 0;
  const std::scoped_lock lock(mutex_);
  if (read_mark(event, &number)) {
    ++marks_out_;
    expect_next({.is_mark = true, .number = number});
  }
  if (GST_EVENT_TYPE(event) == GST_EVENT_EOS && !waiting_.empty() && !may_lose_) {
    complaints_.push_back(std::to_string(waiting_.size()) + " frames or marks lost before EOS");
  }
}

void FrameLedger::expect_next(const Entry& entry) {
  const auto name = [](const Entry& of) {
    return (of.is_mark ? "mark " : "frame ") + std::to_string(of.number);
  };
  if (waiting_.empty()) {
    complaints_.push_back(name(entry) + " came out, but nothing was left inside");
    return;
  }
  if (waiting_.front() != entry) {
    complaints_.push_back(name(entry) + " came out, but " + name(waiting_.front()) + " was next");
  }
  waiting_.pop_front();
}

void FrameLedger::check_painting(GstBuffer* buffer) {
  const float expected = painting_of(buffer);
  const std::vector<float> values = first_tensor(buffer);
  for (const float value : values) {
    if (value == expected) continue;
    complain("frame " + std::to_string(GST_BUFFER_PTS(buffer)) +
             " carries the tensor of another: " + std::to_string(value) + " instead of " +
             std::to_string(expected));
    return;
  }
  if (values.empty()) {
    complain("frame " + std::to_string(GST_BUFFER_PTS(buffer)) + " carries no tensor");
  }
}

void FrameLedger::complain(const std::string& what) {
  const std::scoped_lock lock(mutex_);
  complaints_.push_back(what);
}

}  // namespace gstnpu::test
