#include <string_view>
#include <utility>

#include "video.hpp"

namespace pynpu::video {
namespace {

/// A file without any frame for so long is looked at.
constexpr std::chrono::seconds kSilence{2};

GstElement* parse(const std::string& launch) {
  GError* failure = nullptr;
  GstElement* pipeline =
      gst_parse_launch_full(launch.c_str(), nullptr, GST_PARSE_FLAG_FATAL_ERRORS, &failure);
  const Ref<GError> error(failure);
  if (error) throw error_of(*error);
  return GST_ELEMENT(gst_object_ref_sink(pipeline));
}

/// Queues run without anybody to feed them.
bool is_queue(GstElement* element) {
  const GstElementFactory* factory = gst_element_get_factory(element);
  return factory && std::string_view(GST_OBJECT_NAME(factory)).find("queue") != std::string::npos;
}

gboolean look_for_task(GstElement*, GstPad* pad, gpointer runs) {
  GST_OBJECT_LOCK(pad);
  GstTask* task = GST_PAD_TASK(pad);
  *static_cast<bool*>(runs) |= task != nullptr && gst_task_get_state(task) == GST_TASK_STARTED;
  GST_OBJECT_UNLOCK(pad);
  return TRUE;
}

void look_at_element(const GValue* item, gpointer runs) {
  auto* element = GST_ELEMENT(g_value_get_object(item));
  if (!is_queue(element)) {
    gst_element_foreach_pad(element, look_for_task, runs);
  }
}

/// Whether no thread reads the file any more, though no video was found in it.
bool is_dead(GstBin* decoder) {
  bool runs = GST_ELEMENT(decoder)->numsrcpads != 0;
  GstIterator* elements = gst_bin_iterate_recurse(decoder);
  while (gst_iterator_foreach(elements, look_at_element, &runs) == GST_ITERATOR_RESYNC) {
    gst_iterator_resync(elements);
  }
  gst_iterator_free(elements);
  return !runs;
}

}  // namespace

Pipeline::Pipeline(const std::string& launch, bool is_file)
    : pipeline_(parse(launch)),
      decoder_(is_file ? gst_bin_get_by_name(GST_BIN(pipeline_.get()), "decoder") : nullptr) {
  sink_.reset(GST_APP_SINK(gst_bin_get_by_name(GST_BIN(pipeline_.get()), "frames")));
  bus_.reset(gst_element_get_bus(pipeline_.get()));
}

Pipeline::~Pipeline() {
  gst_element_set_state(pipeline_.get(), GST_STATE_NULL);
}

void Pipeline::start() {
  if (gst_element_set_state(pipeline_.get(), GST_STATE_PLAYING) != GST_STATE_CHANGE_FAILURE) return;
  (void)is_over();
  throw npu::Error(npu::ErrorCode::kInternal,
                   "the pipeline cannot start, and no element says why: GST_DEBUG=3 shows more");
}

void Pipeline::stop() {
  if (stopped_.exchange(true)) return;
  gst_element_set_state(pipeline_.get(), GST_STATE_NULL);
}

void Pipeline::note_message(GstMessage* message) {
  switch (GST_MESSAGE_TYPE(message)) {
    case GST_MESSAGE_ERROR:
      // Those that follow tell only that the stream has ended.
      if (!error_) {
        error_ = error_of(message, missing_);
      }
      break;
    case GST_MESSAGE_WARNING:
    case GST_MESSAGE_INFO:
    case GST_MESSAGE_PROGRESS:
      notes_.push_back({GST_MESSAGE_TYPE(message) == GST_MESSAGE_WARNING, text_of(message)});
      break;
    case GST_MESSAGE_ELEMENT:
      if (std::string missing = missing_of(message); !missing.empty()) {
        missing_ = std::move(missing);
      }
      break;
    case GST_MESSAGE_LATENCY:
      gst_bin_recalculate_latency(GST_BIN(pipeline_.get()));
      break;
    default:
      break;
  }
}

void Pipeline::read_bus() {
  while (const Ref<GstMessage> message{gst_bus_pop(bus_.get())}) note_message(message.get());
}

/// While decodebin tries an element, it drops that element's errors, and sometimes the one that
/// ends the stream is among them (a truncated MP4): nothing would ever come.
void Pipeline::note_stall() {
  const auto now = std::chrono::steady_clock::now();
  if (!decoder_ || error_ || now - last_life_ < kSilence) return;
  last_life_ = now;
  // A second look, because one element may just have handed over to the next.
  if (!is_dead(GST_BIN(decoder_.get())) || !std::exchange(seemed_dead_, true)) return;
  error_ = npu::Error(npu::ErrorCode::kIo,
                      "nothing in the file can be played, and GStreamer does not say why: it may "
                      "be cut short; gst-discoverer-1.0 tells what it holds");
}

SampleRef Pipeline::pull(std::chrono::nanoseconds timeout) {
  read_bus();
  const auto wait = static_cast<GstClockTime>(error_ ? 0 : timeout.count());
  SampleRef sample(gst_app_sink_try_pull_sample(sink_.get(), wait));
  if (sample) {
    last_life_ = std::chrono::steady_clock::now();
  }
  return sample;
}

bool Pipeline::is_over() {
  if (stopped_) return true;
  const bool is_end = gst_app_sink_is_eos(sink_.get());
  read_bus();
  if (!is_end) {
    note_stall();
  }
  if (error_) throw npu::Error(*error_);
  return is_end;
}

std::vector<Note> Pipeline::take_notes() {
  return std::exchange(notes_, {});
}

}  // namespace pynpu::video
