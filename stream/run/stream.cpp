#include "stream.hpp"

#include <gst/video/video.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstring>
#include <iostream>
#include <mutex>
#include <set>

#include "found.hpp"
#include "on_main.hpp"
#include "recorder.hpp"

namespace npustream {
namespace {

constexpr double kNsPerSecond = 1e9;
constexpr gint64 kSteadyUs = 10 * G_USEC_PER_SEC;  // plays well again
constexpr gint64 kSilentUs = 20 * G_USEC_PER_SEC;  // a camera that gives no frame has failed
constexpr gint64 kLinkedUs = 5 * G_USEC_PER_SEC;   // until then its video has a pad that is linked
constexpr guint kLongestWaitMs = 60000;
constexpr const char* kHeldFrame = "npu-stream-held-frame";

/// Why the key `region` cannot be; empty: it can.
std::string region_problem(GstElement* pipeline) {
  GstElement* const crop = gst_bin_get_by_name(GST_BIN(pipeline), "region");
  if (!crop) return "";
  gint width = 0, height = 0, left = 0, right = 0, top = 0, bottom = 0;
  g_object_get(crop, "left", &left, "right", &right, "top", &top, "bottom", &bottom, nullptr);
  GstPad* const sink = gst_element_get_static_pad(crop, "sink");
  GstPad* const peer = gst_pad_get_peer(sink);
  GstCaps* caps = peer ? gst_pad_get_current_caps(peer) : nullptr;
  if (caps) {
    const GstStructure* const frame = gst_caps_get_structure(caps, 0);
    gst_structure_get_int(frame, "width", &width);
    gst_structure_get_int(frame, "height", &height);
  }
  gst_clear_caps(&caps);
  gst_object_unref(sink);
  gst_object_unref(crop);
  if (peer) {
    gst_object_unref(peer);
  }
  const bool is_too_large =
      width > 0 && (std::int64_t{left} + right >= width || std::int64_t{top} + bottom >= height);
  if (!is_too_large) return "";
  return "region cuts off " + std::to_string(std::int64_t{left} + right) + " x " +
         std::to_string(std::int64_t{top} + bottom) + " pixels, and frames have " +
         std::to_string(width) + " x " + std::to_string(height);
}

/// Why the key `record` cannot be; empty: it can.
std::string codec_problem(GstElement* pipeline) {
  GstElement* const parse = gst_bin_get_by_name(GST_BIN(pipeline), "parse");
  if (!parse) return "";
  std::string codec;
  const auto look = [](GstElement*, GstPad* pad, gpointer data) -> gboolean {
    std::string& found = *static_cast<std::string*>(data);
    GstCaps* caps = gst_pad_get_current_caps(pad);
    const std::string type = caps ? gst_structure_get_name(gst_caps_get_structure(caps, 0)) : "";
    gst_clear_caps(&caps);
    const bool is_linked = gst_pad_is_linked(pad);
    if (is_linked || type.starts_with("video/") || type.starts_with("image/")) {
      found = is_linked ? "" : type;
    }
    return !is_linked;
  };
  gst_element_foreach_src_pad(parse, look, &codec);
  gst_object_unref(parse);
  return codec.empty() ? "" : "the source's video is " + codec + ", which cannot be recorded";
}

constexpr const char* kCodecCure =
    "record only H.264, H.265, VP8, VP9, AV1, MPEG and JPEG; without the key record it plays";

std::string cure_of(const GError& error, const StreamConfig& config) {
  if (error.domain == GST_RESOURCE_ERROR && is_camera(config)) {
    return "check that the camera is on, its address, and user and password";
  }
  if (g_error_matches(&error, GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_NOT_FOUND)) {
    return "check the path, and that this user may read it";
  }
  if (error.domain == GST_STREAM_ERROR) {
    return "check that the file or camera gives video that GStreamer can decode; run the launch "
           "line by hand";
  }
  return "";
}

/// Holds the first frame in front of the model, and tells so on the bus.
gulong hold_first_frame(GstElement* infer) {
  const auto hold = [](GstPad* pad, GstPadProbeInfo*, gpointer) {
    GstElement* const element = gst_pad_get_parent_element(pad);
    if (element) {
      gst_element_post_message(
          element,
          gst_message_new_application(GST_OBJECT(element), gst_structure_new_empty(kHeldFrame)));
      gst_object_unref(element);
    }
    return GST_PAD_PROBE_OK;
  };
  GstPad* const pad = gst_element_get_static_pad(infer, "sink");
  const auto type =
      static_cast<GstPadProbeType>(GST_PAD_PROBE_TYPE_BLOCK | GST_PAD_PROBE_TYPE_BUFFER);
  const gulong probe = gst_pad_add_probe(pad, type, hold, nullptr, nullptr);
  gst_object_unref(pad);
  return probe;
}

}  // namespace

struct Stream::Run {
  ~Run() {
    if (watch) {
      g_source_remove(watch);
    }
    gst_clear_object(&infer);
    for (GstElement* element : further) gst_object_unref(element);
    gst_clear_object(&end);
    gst_clear_object(&pipeline);
  }
  GstElement *pipeline = nullptr, *infer = nullptr, *end = nullptr;
  std::shared_ptr<Recorder> recorder;               // null: nothing is recorded
  std::vector<GstElement*> further;                 // a cascade's other models
  std::map<std::string, std::uint64_t> dropped_by;  // elements in front of the model
  std::uint64_t dropped_before = 0;                 // all of them together, on the way to the model
  guint watch = 0;
  gulong held = 0;   // the probe that holds a looped file's first frame
  std::mutex mutex;  // held while the state changes
  std::atomic<bool> is_over{false};
};

Stream::Stream(StreamConfig config, LaunchLine line, Tell tell)
    : config_(std::move(config)), line_(std::move(line)), tell_(std::move(tell)) {}

Stream::~Stream() {
  if (timer_) {
    g_source_remove(timer_);
  }
  pictures_.clear();
  if (!run_) return;
  if (run_->recorder) {
    run_->recorder->finish();
  }
  run_->is_over = true;
  const std::scoped_lock lock(run_->mutex);
  gst_element_set_state(run_->pipeline, GST_STATE_NULL);
}

void Stream::set_state(StreamState state) {
  state_ = state;
  was_started_ = was_started_ || state != StreamState::kStarting;
}

void Stream::tell(const std::string& kind, const std::string& text, const std::string& clip) {
  tell_(*this, kind, text, clip);
}

bool Stream::is_gone() const {
  const auto is_done = [](const auto& recorder) { return recorder->is_done(); };
  return !run_ && !leaving_ && std::all_of(recorders_.begin(), recorders_.end(), is_done);
}

void Stream::set_config(StreamConfig config) {
  if (overlay_words(config) != overlay_words(config_)) {
    pictures_.clear();
  }
  config_ = std::move(config);
  if (run_ && run_->recorder && config_.json.contains("record")) {
    run_->recorder->set(record_settings(config_));
  }
}

void Stream::replace(StreamConfig config, LaunchLine line) {
  config_ = std::move(config);
  line_ = std::move(line);
  failures_ = 0;
  limit_ = 0;
  state_ = config_.json.value("paused", false) ? StreamState::kPaused : StreamState::kStarting;
}

void Stream::start() {
  if (timer_) {
    g_source_remove(timer_);
  }
  timer_ = 0;
  if (run_) return;
  if (leaving_) {
    starts_when_gone_ = true;
    return;
  }
  if (config_.json.value("paused", false)) {
    set_state(StreamState::kPaused);
    return;
  }
  set_state(StreamState::kStarting);
  std::vector<const gchar*> words;
  for (const std::string& word : line_) words.push_back(word.c_str());
  words.push_back(nullptr);
  GError* error = nullptr;
  auto run = std::make_shared<Run>();
  run->pipeline = gst_parse_launchv(words.data(), &error);
  if (run->pipeline) {
    gst_object_ref_sink(run->pipeline);
  }
  if (error) {
    error_ = error->message;
    cure_ = "change the stream's keys, or install what is missing; then reload";
    g_error_free(error);
    set_state(StreamState::kFailed);
    tell("failed", error_ + "; " + cure_);
    return;
  }
  run->infer = gst_bin_get_by_name(GST_BIN(run->pipeline), "infer");
  run->end = gst_bin_get_by_name(GST_BIN(run->pipeline), "end");
  go_on_counting(run->pipeline);
  if (GstElement* const record = gst_bin_get_by_name(GST_BIN(run->pipeline), "record")) {
    run->recorder = Recorder::make(
        run->end, record, record_settings(config_),
        [weak = weak_from_this()](const auto& kind, const auto& text, const auto& clip) {
          const auto self = weak.lock();
          if (!self) return;
          self->tell(kind, text, clip);
        });
    gst_object_unref(record);
  }
  for (int number = 2;; ++number) {
    const std::string name = "infer" + std::to_string(number);
    GstElement* const further = gst_bin_get_by_name(GST_BIN(run->pipeline), name.c_str());
    if (!further) break;
    run->further.push_back(further);
  }
  if (is_looped(config_) && run->infer) {
    run->held = hold_first_frame(run->infer);
  }
  GstBus* const bus = gst_element_get_bus(run->pipeline);
  const auto handle = [](GstBus*, GstMessage* message, gpointer self) -> gboolean {
    const std::shared_ptr<Stream> alive = static_cast<Stream*>(self)->shared_from_this();
    alive->on_message(message);
    return G_SOURCE_CONTINUE;
  };
  run->watch = gst_bus_add_watch(bus, handle, this);
  gst_object_unref(bus);
  run_ = std::move(run);
  last_frame_us_ = ticked_us_ = g_get_monotonic_time();
  ticked_frames_ = before_.frames;
  ticked_inferred_ = before_.inferred;
  ticked_missed_ = before_.missed;
  ticked_busy_ns_ = before_.busy_ns;

  using Holder = std::shared_ptr<Run>;
  const auto play = [](GstElement* pipeline, gpointer data) {
    const Holder& held = *static_cast<Holder*>(data);
    const std::scoped_lock lock(held->mutex);
    if (held->is_over ||
        gst_element_set_state(pipeline, GST_STATE_PLAYING) != GST_STATE_CHANGE_FAILURE)
      return;
    // Behind the element's own message, if there is one: the first counts.
    GST_ELEMENT_ERROR(pipeline, CORE, STATE_CHANGE, ("The pipeline could not be started."),
                      (nullptr));
  };
  gst_element_call_async(run_->pipeline, play, new Holder(run_),
                         [](gpointer data) { delete static_cast<Holder*>(data); });
}

void Stream::start_after(guint milliseconds) {
  if (timer_) {
    g_source_remove(timer_);
  }
  timer_ = g_timeout_add(
      milliseconds,
      [](gpointer self) -> gboolean {
        static_cast<Stream*>(self)->timer_ = 0;
        static_cast<Stream*>(self)->start();
        return G_SOURCE_REMOVE;
      },
      this);
}

void Stream::end_run(std::function<void()> done) {
  if (timer_) {
    g_source_remove(timer_);
  }
  timer_ = 0;
  starts_when_gone_ = false;
  if (done) {
    when_gone_.push_back(std::move(done));
  }
  if (!run_ && !leaving_) {
    for (auto& work : std::exchange(when_gone_, {})) work();
    return;
  }
  if (!run_) return;
  if (run_->recorder) {
    run_->recorder->finish();
    recorders_.push_back(run_->recorder);
  }
  carry_counts();
  before_ = counters();
  before_.queue = 0;
  pictures_.clear();
  fps_ = inferred_fps_ = missed_fps_ = load_ = 0;
  limit_ = 0;
  run_->is_over = true;
  g_source_remove(std::exchange(run_->watch, 0));
  leaving_ = true;
  using Holder = std::pair<std::shared_ptr<Run>, std::weak_ptr<Stream>>;
  const auto leave = [](GstElement* pipeline, gpointer data) {
    auto* const holder = static_cast<Holder*>(data);
    {
      const std::scoped_lock lock(holder->first->mutex);
      gst_element_set_state(pipeline, GST_STATE_NULL);
    }
    on_main([weak = holder->second] {
      const std::shared_ptr<Stream> self = weak.lock();
      if (!self) return;
      self->leaving_ = false;
      for (auto& work : std::exchange(self->when_gone_, {})) work();
      if (std::exchange(self->starts_when_gone_, false)) {
        self->start();
      }
    });
  };
  gst_element_call_async(run_->pipeline, leave, new Holder(run_, weak_from_this()),
                         [](gpointer data) { delete static_cast<Holder*>(data); });
  run_ = nullptr;
}

void Stream::stop(std::function<void()> done) {
  set_state(StreamState::kPaused);
  error_ = cure_ = "";
  end_run(std::move(done));
}

void Stream::drain() {
  is_draining_ = true;
  if (!run_ || state_ != StreamState::kPlaying) {
    end_run(nullptr);
    return;
  }
  gst_element_send_event(run_->pipeline, gst_event_new_eos());
}

void Stream::fail(const std::string& error, const std::string& cure) {
  error_ = error;
  cure_ = cure;
  ++failures_;
  ++restarts_;
  end_run(nullptr);
  set_state(StreamState::kWaiting);
  const guint wait_ms = std::min(kLongestWaitMs, 1000U << std::min(failures_ - 1, 6U));
  if (failures_ == 1) {
    tell("failed", error_ + (cure_.empty() ? "" : "; " + cure_) +
                       ". It is started again, after 1 s at first and up to 60 s later");
  }
  if (!is_draining_) {
    start_after(wait_ms);
  }
}

void Stream::on_error(GstMessage* message) {
  GError* error = nullptr;
  gchar* details = nullptr;
  gst_message_parse_error(message, &error, &details);
  std::string text = error->message;
  // GStreamer's own elements say in the last line of the details what was not found.
  const gchar* const last =
      details && error->domain == GST_RESOURCE_ERROR ? std::strrchr(details, '\n') : nullptr;
  if (last && last[1]) {
    text = std::string(last + 1);
  }
  while (text.ends_with('.')) text.pop_back();
  std::string cure = cure_of(*error, config_);
  const Json& source = config_.json["source"];
  if (source.contains("rtsp")) {
    text = without_passwords(source["rtsp"].get<std::string>()) + ": " + text;
  }
  if (const std::string problem = region_problem(run_->pipeline); !problem.empty()) {
    text = problem;
    cure = "let left, right, top and bottom be smaller";
  }
  if (const std::string problem = codec_problem(run_->pipeline); !problem.empty()) {
    text = problem;
    cure = kCodecCure;
  }
  g_error_free(error);
  g_free(details);
  fail(text, cure);
}

void Stream::on_end() {
  if (is_draining_) {
    end_run(nullptr);
  } else if (is_camera(config_)) {
    fail("the source has ended", "check that the camera is on");
  } else if (is_looped(config_)) {  // a file without seeks
    end_run(nullptr);
    set_state(StreamState::kStarting);
    start_after(100);
  } else {
    end_run(nullptr);
    set_state(StreamState::kEnded);
    tell("ended", "the file is at its end");
  }
}

/// A file that is played over and over goes back without a gap: the end of a segment is no end of
/// the stream. That takes a seek, which flushes: behind the model it would make the first frame
/// count twice.
void Stream::on_held_frame() {
  const gulong held = std::exchange(run_->held, 0);
  if (held == 0) return;
  GstPad* const pad = gst_element_get_static_pad(run_->infer, "sink");
  const auto flags = static_cast<GstSeekFlags>(GST_SEEK_FLAG_FLUSH | GST_SEEK_FLAG_SEGMENT);
  gst_pad_push_event(pad, gst_event_new_seek(1.0, GST_FORMAT_TIME, flags, GST_SEEK_TYPE_SET, 0,
                                             GST_SEEK_TYPE_NONE, 0));
  gst_pad_remove_probe(pad, held);
  gst_object_unref(pad);
}

/// A decoder that is told of late frames drops them before the model sees them.
void Stream::on_drops(GstMessage* message) {
  const std::string name = GST_MESSAGE_SRC_NAME(message);
  if (name.starts_with("infer") || name == "end") return;  // counted by themselves; drops none
  guint64 dropped = 0;
  gst_message_parse_qos_stats(message, nullptr, nullptr, &dropped);
  if (dropped == G_MAXUINT64) return;  // not known
  std::uint64_t& had = run_->dropped_by[name];
  run_->dropped_before += dropped - (dropped < had ? 0 : had);  // a flush begins anew
  had = dropped;
}

void Stream::on_message(GstMessage* message) {
  if (!run_) return;
  const bool is_pipeline = GST_MESSAGE_SRC(message) == GST_OBJECT(run_->pipeline);
  switch (GST_MESSAGE_TYPE(message)) {
    case GST_MESSAGE_ERROR:
      on_error(message);
      return;
    case GST_MESSAGE_EOS:
      on_end();
      return;
    case GST_MESSAGE_APPLICATION:
      on_held_frame();
      return;
    case GST_MESSAGE_LATENCY:
      gst_bin_recalculate_latency(GST_BIN(run_->pipeline));
      return;
    case GST_MESSAGE_SEGMENT_DONE:
      if (is_draining_) {
        end_run(nullptr);
        return;
      }
      gst_element_seek(run_->pipeline, 1.0, GST_FORMAT_TIME, GST_SEEK_FLAG_SEGMENT,
                       GST_SEEK_TYPE_SET, 0, GST_SEEK_TYPE_NONE, 0);
      return;
    case GST_MESSAGE_QOS:
      on_drops(message);
      return;
    case GST_MESSAGE_STATE_CHANGED: {
      GstState state = GST_STATE_NULL;
      gst_message_parse_state_changed(message, nullptr, &state, nullptr);
      if (!is_pipeline || state != GST_STATE_PLAYING || state_ == StreamState::kPlaying) return;
      set_state(StreamState::kPlaying);
      playing_since_us_ = last_frame_us_ = g_get_monotonic_time();
      return;
    }
    case GST_MESSAGE_WARNING: {
      GError* error = nullptr;
      gst_message_parse_warning(message, &error, nullptr);
      static std::set<std::string> told;  // many streams have the same to say
      constexpr std::size_t kMostWarnings = 1000;
      if (told.size() < kMostWarnings && told.insert(error->message).second) {
        std::cerr << "npu-stream: " << config_.id << ": " << error->message << std::endl;
      }
      g_error_free(error);
      return;
    }
    case GST_MESSAGE_ELEMENT: {
      const GstStructure* const said = gst_message_get_structure(message);
      if (!said || !gst_structure_has_name(said, "npu-count")) return;
      const char* const kind = gst_structure_get_string(said, "event");
      tell(kind, std::string(gst_structure_get_string(said, "place")) + ": object " +
                     std::to_string(number_of(said, "id")));
      return;
    }
    default:
      return;
  }
}

/// Whether frames have reached the model: from then on it may be compiled, for minutes.
bool Stream::has_input() const {
  GstPad* pad = run_->infer ? gst_element_get_static_pad(run_->infer, "sink") : nullptr;
  const bool has = pad && gst_pad_has_current_caps(pad);
  g_clear_object(&pad);
  return has;
}

void Stream::tick() {
  std::erase_if(pictures_, [](const auto& entry) { return entry.second->is_idle(); });
  std::erase_if(recorders_, [](const auto& recorder) { return recorder->is_done(); });
  if (run_ && state_ == StreamState::kStarting && !has_input()) {
    const gint64 silent_us = g_get_monotonic_time() - last_frame_us_;
    // A short file may be at its end before GStreamer tells that its pad could not be linked.
    const std::string problem = silent_us > kLinkedUs ? codec_problem(run_->pipeline) : "";
    if (!problem.empty()) {
      fail(problem, kCodecCure);
      return;
    }
    if (is_camera(config_) && silent_us > kSilentUs) {
      fail("no frame came for 20 s", "check that the camera is on");
      return;
    }
  }
  if (!run_ || state_ != StreamState::kPlaying) return;
  const StreamCounters now = counters();
  const gint64 now_us = g_get_monotonic_time();
  const double seconds = std::max(1e-3, static_cast<double>(now_us - ticked_us_) / G_USEC_PER_SEC);
  const auto rate = [&](std::uint64_t count, std::uint64_t* ticked) {
    const std::uint64_t had = std::exchange(*ticked, count);
    return static_cast<double>(count - std::min(count, had)) / seconds;
  };
  if (now.frames != ticked_frames_) {
    last_frame_us_ = now_us;
  }
  fps_ = rate(now.frames, &ticked_frames_);
  inferred_fps_ = rate(now.inferred, &ticked_inferred_);
  missed_fps_ = rate(now.missed, &ticked_missed_);
  load_ = rate(now.busy_ns, &ticked_busy_ns_) / kNsPerSecond;
  ticked_us_ = now_us;
  if (is_camera(config_) && now_us - last_frame_us_ > kSilentUs) {
    fail("no frame came for 20 s", "check that the camera is on");
    return;
  }
  if (failures_ > 0 && now_us - playing_since_us_ > kSteadyUs) {
    tell("recovered", "plays again, after " + std::to_string(failures_) +
                          (failures_ == 1 ? " start" : " starts"));
    failures_ = 0;
    error_ = cure_ = "";
  }
}

void Stream::limit(double inferences_per_second) {
  if (!run_ || !run_->infer) return;
  const auto own = static_cast<guint>(config_.json.value("interval", 1));
  const double wanted = fps_ / own;
  const bool is_limit = inferences_per_second > 0 && inferences_per_second < 0.999 * wanted;
  limit_ = is_limit ? inferences_per_second : 0;
  const guint interval =
      is_limit ? std::max(own, static_cast<guint>(std::ceil(fps_ / inferences_per_second - 0.01)))
               : own;
  guint has = 0;
  g_object_get(run_->infer, "inference-interval", &has, nullptr);
  if (has != interval) {
    g_object_set(run_->infer, "inference-interval", interval, nullptr);
  }
}

StreamCounters Stream::counters() const {
  StreamCounters counters = before_;
  if (!run_ || !run_->infer) return counters;
  counters.frames += run_->dropped_before;
  counters.missed += run_->dropped_before;
  for (std::size_t i = 0; i < run_->further.size() + 1; ++i) {
    GstStructure* stats = nullptr;
    g_object_get(i == 0 ? run_->infer : run_->further[i - 1], "stats", &stats, nullptr);
    if (!stats) continue;
    counters.busy_ns += number_of(stats, "busy-time");
    if (i == 0) {
      add_stats(stats, &counters);
    }
    gst_structure_free(stats);
  }
  return counters;
}

void Stream::carry_counts() {
  std::map<std::string, Json> counts;
  const FoundFrame frame(run_->end);
  for (const char* kind : {"lines", "zones"}) {
    for (const PlaceCounts& place : places_of(config_.json, kind)) {
      const std::string key = place_key(kind, place.place);
      const Json found = frame.counts(kind, place.place.name);
      if (!found.is_null()) {
        counts[key] = found;
      } else if (const auto before = counted_before_.find(key); before != counted_before_.end()) {
        counts[key] = before->second;
      }
    }
  }
  counted_before_ = std::move(counts);
}

void Stream::go_on_counting(GstElement* pipeline) const {
  GstElement* const count = gst_bin_get_by_name(GST_BIN(pipeline), "count");
  if (!count) return;
  Json before = Json::object();
  for (const char* kind : {"lines", "zones"}) {
    before[kind] = Json::array();
    for (const PlaceCounts& place : places_of(config_.json, kind)) {
      const auto found = counted_before_.find(place_key(kind, place.place));
      if (found != counted_before_.end()) {
        before[kind].push_back(found->second);
      }
    }
  }
  g_object_set(count, "initial-counts", before.dump().c_str(), nullptr);
  gst_object_unref(count);
}

std::vector<PlaceCounts> Stream::counts_of(const char* kind, const FoundFrame& frame) const {
  const std::vector<const char*> names = std::strcmp(kind, "lines") == 0
                                             ? std::vector{"forward", "backward"}
                                             : std::vector{"entered", "left", "inside"};
  std::vector<PlaceCounts> places = places_of(config_.json, kind);
  for (PlaceCounts& place : places) {
    Json counts = frame.counts(kind, place.place.name);
    const auto before = counted_before_.find(place_key(kind, place.place));
    if (counts.is_null() && before != counted_before_.end()) {
      counts = before->second;
      counts["inside"] = 0;
    }
    for (const char* name : names) {
      place.counts.emplace_back(name, counts.is_null() ? 0 : counts[name].get<std::uint64_t>());
    }
  }
  return places;
}

StreamSnapshot Stream::snapshot() const {
  StreamSnapshot snapshot;
  snapshot.id = config_.id;
  snapshot.state = state_;
  snapshot.error = state_ == StreamState::kPlaying ? "" : error_;
  snapshot.cure = state_ == StreamState::kPlaying ? "" : cure_;
  snapshot.source = config_.json["source"];
  snapshot.model = first_model(config_);
  const FoundFrame frame(run_ ? run_->end : nullptr);
  snapshot.width = frame.width();
  snapshot.height = frame.height();
  snapshot.fps = fps_;
  snapshot.inferred_fps = inferred_fps_;
  const StreamCounters now = counters();
  snapshot.latency_p50_ms = now.latency_p50_ms;
  snapshot.latency_p95_ms = now.latency_p95_ms;
  snapshot.latency = now.latency;
  snapshot.queueing = now.queueing;
  snapshot.compile_seconds = static_cast<double>(now.compile_ns) / kNsPerSecond;
  snapshot.queue = now.queue;
  snapshot.frames_inferred = now.inferred;
  snapshot.frames_skipped = now.skipped;
  snapshot.frames_lost = now.lost + now.missed;
  for (const auto& [reason, copy] : now.copies) snapshot.copies.push_back(copy);
  snapshot.lines = counts_of("lines", frame);
  snapshot.zones = counts_of("zones", frame);
  snapshot.priority = config_.json.value("priority", 0U);
  snapshot.min_fps = config_.json.value("min-fps", 1.0);
  snapshot.is_limited = is_limited();
  snapshot.restarts = restarts_;
  snapshot.is_paused = config_.json.value("paused", false);
  snapshot.launch = shell_text(line_);
  return snapshot;
}

Json Stream::objects() const {
  return FoundFrame(run_ ? run_->end : nullptr).to_json();
}

PicturePtr Stream::picture(int width) {
  if (!run_ || !run_->end) return nullptr;
  std::unique_ptr<PictureMaker>& maker = pictures_[picture_width(width)];
  if (!maker) {
    maker = std::make_unique<PictureMaker>(run_->end, overlay_words(config_), picture_width(width));
  }
  return maker->ask();
}

}  // namespace npustream
