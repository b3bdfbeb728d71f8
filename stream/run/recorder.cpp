#include "recorder.hpp"

#include <algorithm>
#include <stdexcept>
#include <utility>

#include "meta/npumeta.h"

#include "found.hpp"
#include "launch_line.hpp"
#include "on_main.hpp"

namespace npustream {
namespace {

constexpr std::size_t kMostKeptBytes = std::size_t{128} << 20U;  // of one stream's kept frames
constexpr std::size_t kMostCauses = 8;                           // that are told
constexpr unsigned kMostTimeless = 10;                           // frames
constexpr long kMostUnwritten = 8;                               // clips
constexpr GstClockTime kPauseAfterFailure = 10 * GST_SECOND;

GstClockTime seconds(const Json& keys, const char* key, double if_missing) {
  return static_cast<GstClockTime>(keys.value(key, if_missing) * GST_SECOND);
}

/// Frames in front of the segment have 0.
GstClockTime time_of(const GstBuffer* frame, const GstSegment& segment) {
  if (segment.format != GST_FORMAT_TIME) return GST_BUFFER_PTS(frame);
  guint64 time = 0;
  const int sign =
      gst_segment_to_running_time_full(&segment, GST_FORMAT_TIME, GST_BUFFER_PTS(frame), &time);
  return sign > 0 ? time : 0;
}

std::string joined(const std::vector<std::string>& texts) {
  std::string all;
  for (const std::string& text : texts) all += (all.empty() ? "" : ", ") + text;
  return all;
}

}  // namespace

RecordSettings record_settings(const StreamConfig& stream) {
  Json keys = stream.json["record"];
  if (keys.is_string()) {
    keys = {{"folder", keys}};
  }
  const std::string folder = with_id(keys.value("folder", "clips"), stream.id);
  RecordSettings settings{
      .folder = folder,
      .files = ClipFolder(
          std::filesystem::path(stream.folder) / folder, stream.id,
          {keys.value("keep", std::size_t{100}), keys.value("keep-bytes", std::uint64_t{0})}),
      .before = seconds(keys, "before", 5),
      .after = seconds(keys, "after", 10),
      .longest = seconds(keys, "longest", 300)};
  for (const Json& word : keys.value("on", Json::array())) {
    const auto text = word.get<std::string>();
    (is_count_event(text) ? settings.events : settings.labels).insert(text);
  }
  if (!settings.events.empty() || !settings.labels.empty()) return settings;
  if (!has_places(stream)) {
    settings.labels = stream.json.value("labels", std::set<std::string>());
    settings.is_any_object = settings.labels.empty();
  }
  settings.events = {"entered", "left", "forward", "backward"};
  return settings;
}

Recorder::Recorder(RecordSettings settings, Tell tell)
    : tell_(std::move(tell)), settings_(std::move(settings)) {
  gst_segment_init(&analysed_segment_, GST_FORMAT_TIME);
  gst_segment_init(&encoded_segment_, GST_FORMAT_TIME);
}

std::shared_ptr<Recorder> Recorder::make(GstElement* analysed, GstElement* encoded,
                                         RecordSettings settings, Tell tell) {
  std::shared_ptr<Recorder> recorder(new Recorder(std::move(settings), std::move(tell)));
  recorder->self_ = recorder;
  recorder->analysed_probe_ = add_probe(analysed, recorder, false);
  recorder->encoded_probe_ = add_probe(encoded, recorder, true);
  return recorder;
}

Recorder::~Recorder() {
  drop_first(kept_.size());
  gst_clear_caps(&caps_);
  for (const Probe& probe : {analysed_probe_, encoded_probe_}) gst_object_unref(probe.pad);
}

Recorder::Probe Recorder::add_probe(GstElement* sink, const std::shared_ptr<Recorder>& self,
                                    bool is_encoded) {
  using Holder = std::pair<std::shared_ptr<Recorder>, bool>;
  const auto look = [](GstPad*, GstPadProbeInfo* info, gpointer data) {
    const auto& [recorder, encoded] = *static_cast<Holder*>(data);
    const std::scoped_lock lock(recorder->mutex_);
    if (recorder->is_finished_) return GST_PAD_PROBE_OK;  // it waited for the mutex meanwhile
    if (GST_PAD_PROBE_INFO_TYPE(info) & GST_PAD_PROBE_TYPE_BUFFER) {
      GstBuffer* const frame = GST_PAD_PROBE_INFO_BUFFER(info);
      encoded ? recorder->on_encoded(frame) : recorder->on_analysed(frame);
    } else {
      recorder->on_event(GST_PAD_PROBE_INFO_EVENT(info), encoded);
    }
    return GST_PAD_PROBE_OK;
  };
  constexpr auto kAll =
      static_cast<GstPadProbeType>(GST_PAD_PROBE_TYPE_BUFFER | GST_PAD_PROBE_TYPE_EVENT_DOWNSTREAM |
                                   GST_PAD_PROBE_TYPE_EVENT_FLUSH);
  GstPad* const pad = gst_element_get_static_pad(sink, "sink");
  return {pad, gst_pad_add_probe(pad, kAll, look, new Holder(self, is_encoded),
                                 [](gpointer data) { delete static_cast<Holder*>(data); })};
}

void Recorder::set(RecordSettings settings) {
  const std::scoped_lock lock(mutex_);
  settings_ = std::move(settings);
}

void Recorder::on_event(GstEvent* event, bool is_encoded) {
  if (GST_EVENT_TYPE(event) == GST_EVENT_SEGMENT) {
    gst_event_copy_segment(event, is_encoded ? &encoded_segment_ : &analysed_segment_);
  } else if (GST_EVENT_TYPE(event) == GST_EVENT_FLUSH_STOP) {
    break_off();  // running time begins again
  } else if (GST_EVENT_TYPE(event) == GST_EVENT_CAPS && is_encoded) {
    GstCaps* caps = nullptr;
    gst_event_parse_caps(event, &caps);
    if (caps_ && !gst_caps_is_equal(caps_, caps)) {
      break_off();  // a file has frames of one size
    }
    gst_caps_replace(&caps_, caps);
  }
}

/// The copy lets a camera have its buffer back.
void Recorder::on_encoded(GstBuffer* frame) {
  if (!GST_BUFFER_PTS_IS_VALID(frame)) {
    on_timeless();
    return;
  }
  timeless_.reset();
  const bool is_key = !GST_BUFFER_FLAG_IS_SET(frame, GST_BUFFER_FLAG_DELTA_UNIT);
  const GstClockTime time = time_of(frame, encoded_segment_);
  newest_ = std::max(newest_, time);
  kept_.push_back({gst_buffer_copy_deep(frame), time, is_key});
  kept_bytes_ += gst_buffer_get_size(frame);
  advance();
}

/// Some sources give their first frames no time.
void Recorder::on_timeless() {
  if (!timeless_ || ++*timeless_ != kMostTimeless) return;
  tell_failure(
      "the source's frames have no times, so no clip can be written; put the video into a "
      "container, such as MP4 or Matroska");
}

void Recorder::on_analysed(GstBuffer* frame) {
  if (!GST_BUFFER_PTS_IS_VALID(frame)) return;
  seen_ = time_of(frame, analysed_segment_);
  if (const auto causes = causes_of(frame); !causes.empty()) {
    begin_or_go_on(causes);
  }
  advance();
}

std::vector<std::string> Recorder::causes_of(GstBuffer* frame) const {
  std::vector<std::string> causes;
  GstNpuEvent event = {};
  for (guint i = 0; gst_npu_buffer_get_event(frame, i, &event); ++i) {
    if (settings_.events.contains(event.kind)) {
      causes.push_back(std::string(event.place) + " " + event.kind);
    }
  }
  if (settings_.labels.empty() && !settings_.is_any_object) return causes;
  GstNpuObject object = {};
  for (guint i = 0; gst_npu_buffer_get_object(frame, i, &object); ++i) {
    if (settings_.is_any_object || settings_.labels.contains(object.found.label)) {
      causes.emplace_back(object.found.label);
    }
  }
  return causes;
}

void Recorder::begin_or_go_on(const std::vector<std::string>& causes) {
  const GstClockTime now = *seen_;
  if (open_ && now > open_->until) {
    close();
  }
  if (!open_) {
    if (refused_until_ && now < *refused_until_) return;
    refused_until_.reset();
    open_ = Open{.limit = now + settings_.longest, .next = first_number_};
    for (std::size_t i = 0; i < kept_.size(); ++i) {
      if (kept_[i].is_key && kept_[i].time + settings_.before <= now) {
        open_->next = first_number_ + i;
      }
    }
  }
  open_->until = std::max(open_->until, std::min(now + settings_.after, open_->limit));
  for (const std::string& cause : causes) {
    const bool is_known =
        std::find(open_->causes.begin(), open_->causes.end(), cause) != open_->causes.end();
    if (!is_known && open_->causes.size() < kMostCauses) {
      open_->causes.push_back(cause);
    }
  }
}

/// A clip ends when no event that is still to be seen can lengthen it.
void Recorder::advance() {
  write();
  if (open_ && seen_ && *seen_ > open_->until && newest_ >= open_->until) {
    close();
  }
  trim();
}

void Recorder::write() {
  while (open_ && open_->next < first_number_ + kept_.size()) {
    const Kept& kept = kept_[open_->next - first_number_];
    if (kept.time > open_->until) return;
    if (open_->clip == nullptr && (!kept.is_key || !caps_)) {
      ++open_->next;
      continue;
    }
    if (open_->clip == nullptr && !make_clip()) return;
    open_->clip->add(kept.frame, kept.time);
    ++open_->next;
  }
}

bool Recorder::make_clip() {
  if (token_.use_count() > kMostUnwritten) {
    refuse("the disk has not taken the " + std::to_string(kMostUnwritten) + " clips before it");
    return false;
  }
  // The settings may be others when the clip ends.
  const auto done = [self = self_, folder = std::filesystem::path(settings_.folder)](
                        const Clip& clip, const std::filesystem::path& file,
                        const std::string& error) {
    if (const auto recorder = self.lock()) {
      recorder->on_clip(clip, folder / file.filename(), error);
    }
  };
  const auto make = [token = token_, files = settings_.files, now = g_get_real_time()] {
    return files.make_clip(now);
  };
  const auto written = [files = settings_.files](const auto& file) { files.remove_old(file); };
  try {
    clips_.push_back(std::make_unique<Clip>(ClipFile{make, written}, caps_, done));
    open_->clip = clips_.back().get();
    return true;
  } catch (const std::exception& error) {
    refuse(error.what());
    return false;
  }
}

void Recorder::close() {
  if (open_->clip) {
    open_->clip->end(joined(open_->causes));
  }
  open_.reset();
}

void Recorder::trim() {
  std::size_t unneeded = 0;
  for (std::size_t i = 0; seen_ && i < kept_.size(); ++i) {
    const bool is_written = !open_ || first_number_ + i <= open_->next;
    if (kept_[i].time + settings_.before > *seen_ || !is_written) break;
    if (kept_[i].is_key) {
      unneeded = i;
    }
  }
  drop_first(unneeded);
  while (kept_bytes_ > kMostKeptBytes) {
    std::size_t next_key = 1;
    while (next_key < kept_.size() && !kept_[next_key].is_key) ++next_key;
    drop_first(next_key);
  }
}

void Recorder::drop_first(std::size_t count) {
  for (; count > 0; --count) {
    kept_bytes_ -= gst_buffer_get_size(kept_.front().frame);
    gst_buffer_unref(kept_.front().frame);
    kept_.pop_front();
    ++first_number_;
  }
  if (open_) {
    open_->next = std::max(open_->next, first_number_);
  }
}

void Recorder::break_off() {
  if (open_) {
    close();
  }
  drop_first(kept_.size());
  newest_ = 0;
  seen_.reset();
}

void Recorder::refuse(const std::string& why) {
  refused_until_ = seen_.value_or(0) + kPauseAfterFailure;
  if (open_) {
    close();
  }
  if (std::exchange(was_failure_told_, true)) return;
  tell_failure("a clip could not be written: " + why);
}

void Recorder::tell_failure(const std::string& text) const {
  on_main([self = self_, text] {
    if (const auto recorder = self.lock()) {
      recorder->tell_("not-recorded", text, "");
    }
  });
}

void Recorder::on_clip(const Clip& clip, const std::filesystem::path& path,
                       const std::string& error) {
  std::unique_ptr<Clip> gone;
  {
    const std::scoped_lock lock(mutex_);
    const auto at = std::find_if(clips_.begin(), clips_.end(),
                                 [&](const auto& one) { return one.get() == &clip; });
    gone = std::move(*at);
    clips_.erase(at);
    if (!error.empty()) {
      if (open_ && open_->clip == gone.get()) {
        open_.reset();
      }
      refuse(error);
      return;
    }
    was_failure_told_ = false;
  }
  char length[64];
  g_snprintf(length, sizeof length, "%.1f s",
             static_cast<double>(clip.duration()) / static_cast<double>(GST_SECOND));
  tell_("recorded", path.string() + ": " + length + ", for " + clip.causes(), path);
}

void Recorder::finish() {
  for (Probe* probe : {&analysed_probe_, &encoded_probe_}) {
    if (probe->id) {
      gst_pad_remove_probe(probe->pad, std::exchange(probe->id, 0));
    }
  }
  const std::scoped_lock lock(mutex_);
  is_finished_ = true;
  break_off();
}

bool Recorder::is_done() const {
  const std::scoped_lock lock(mutex_);
  return clips_.empty();
}

}  // namespace npustream
