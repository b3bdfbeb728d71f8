#include "fleet.hpp"

#include <gst/gst.h>

#include <algorithm>
#include <deque>
#include <iostream>
#include <set>
#include <utility>

#include <npucore/device.hpp>
#include <npucore/error.hpp>

#include "config/edit.hpp"

#include "found.hpp"
#include "labels.hpp"
#include "overload.hpp"
#include "stream.hpp"

namespace npustream {
namespace {

constexpr std::size_t kMostEvents = 200;
constexpr gint64 kPictureUs = 3 * G_USEC_PER_SEC;  // an event waits for its picture
constexpr int kEventWidth = 480;                   // pixels
constexpr guint kDrainMs = 500, kLeaveMs = 900;

std::string now_text() {
  GDateTime* const now = g_date_time_new_now_utc();
  gchar* const text = g_date_time_format(now, "%Y-%m-%dT%H:%M:%S.%fZ");
  std::string copy = text;
  g_free(text);
  g_date_time_unref(now);
  return copy;
}

/// Throws before anything has changed.
std::map<std::string, LaunchLine> lines_of(const Config& config) {
  std::map<std::string, LaunchLine> lines;
  for (const StreamConfig& stream : config.streams) lines[stream.id] = launch_line(stream, config);
  return lines;
}

/// Whether the stream plays on with these keys as it is.
bool plays_on(const Stream& stream, const StreamConfig& config, const LaunchLine& line) {
  const auto is_paused = [](const StreamConfig& of) { return of.json.value("paused", false); };
  return stream.line() == line && is_paused(stream.config()) == is_paused(config) &&
         is_looped(stream.config()) == is_looped(config) && stream.state() != StreamState::kFailed;
}

}  // namespace

struct Fleet::Impl {
  explicit Impl(Config read) : config(std::move(read)) {}
  ~Impl() {
    if (timer) {
      g_source_remove(timer);
    }
    if (drain_timer) {
      g_source_remove(drain_timer);
    }
  }

  using StreamPtr = std::shared_ptr<Stream>;
  using Lines = std::map<std::string, LaunchLine>;  // by stream

  StreamPtr make(const StreamConfig& stream, const LaunchLine& line);
  const StreamPtr& find(const std::string& id) const;
  std::size_t index_of(const std::string& id) const;
  void apply(Config next, const Lines& lines);
  void start_when_all_have_ended();
  /// Checks the document, writes the text, and plays it.
  void edit(Config next, const std::string& yaml);
  std::string current_text() const;

  void tell(const std::string& stream, const std::string& kind, const std::string& text,
            const std::string& clip = "");
  void warn();
  void tick();
  void add_pictures();
  void share(const std::string& device, const std::vector<StreamPtr>& streams);
  std::string device_of(const Stream& stream) const;
  std::map<std::string, std::vector<StreamPtr>> by_device() const;
  void leave_when_gone(gint64 deadline_us);

  Config config;
  std::map<std::string, StreamPtr> streams;
  std::vector<StreamPtr> leaving;   // removed, and not gone yet
  std::vector<StreamPtr> starting;  // once all that end have ended
  std::size_t ending_count = 0;
  std::deque<Event> events;
  std::uint64_t event_count = 0;
  struct Wanted {
    std::uint64_t event = 0;
    std::string stream;
    gint64 since_us = 0;
  };
  std::vector<Wanted> wanted_pictures;
  std::set<std::pair<std::string, std::string>> warned;  // once each
  std::map<std::string, Overload> overloads;             // by device
  mutable std::map<std::string, npu::Device> devices;
  guint timer = 0, drain_timer = 0;
  bool is_draining = false;
  std::function<void()> drained;
};

std::shared_ptr<Stream> Fleet::Impl::make(const StreamConfig& stream, const LaunchLine& line) {
  return std::make_shared<Stream>(
      stream, line,
      [this](const Stream& from, const std::string& kind, const std::string& text,
             const std::string& clip) { tell(from.config().id, kind, text, clip); });
}

const std::shared_ptr<Stream>& Fleet::Impl::find(const std::string& id) const {
  const auto found = streams.find(id);
  if (found == streams.end()) throw NotFound("there is no stream " + id);
  return found->second;
}

std::size_t Fleet::Impl::index_of(const std::string& id) const {
  for (std::size_t i = 0; i < config.streams.size(); ++i) {
    if (config.streams[i].id == id) return i;
  }
  throw NotFound("there is no stream " + id);
}

void Fleet::Impl::tell(const std::string& stream, const std::string& kind, const std::string& text,
                       const std::string& clip) {
  events.push_back({++event_count, now_text(), stream, kind, text, clip, nullptr});
  if (events.size() > kMostEvents) {
    events.pop_front();
  }
  if (is_count_event(kind)) {
    if (wanted_pictures.size() < kMostEvents) {
      wanted_pictures.push_back({event_count, stream, g_get_monotonic_time()});
    }
    return;
  }
  if (kind == "recorded") return;  // as often as those
  std::cerr << "npu-stream: " << (stream.empty() ? "" : stream + ": ") << text << std::endl;
}

/// Streams that stay as they are play on. What is changed or removed ends first, all of it: streams
/// with the old and with the new settings of one model cannot share it. Whoever looks meanwhile, or
/// edits again, sees the new keys.
void Fleet::Impl::apply(Config next, const Lines& lines) {
  config = std::move(next);
  std::vector<std::pair<StreamPtr, const StreamConfig*>> ending;  // null: removed
  for (auto at = streams.begin(); at != streams.end();) {
    if (lines.contains(at->first)) {
      ++at;
      continue;
    }
    leaving.push_back(at->second);
    ending.emplace_back(at->second, nullptr);
    at = streams.erase(at);
  }
  for (const StreamConfig& stream : config.streams) {
    StreamPtr& has = streams[stream.id];
    const LaunchLine& line = lines.at(stream.id);
    if (!has) {
      has = make(stream, line);
      starting.push_back(has);
    } else if (plays_on(*has, stream, line)) {
      has->set_config(stream);
    } else {
      ending.emplace_back(has, &stream);
      starting.push_back(has);
    }
  }
  ending_count += ending.size() + 1;  // and this: none starts before all have their new keys
  for (const auto& [stream, next_config] : ending) {
    stream->stop([this] {
      --ending_count;
      start_when_all_have_ended();
    });
    if (next_config) {
      stream->replace(*next_config, lines.at(next_config->id));
    }
  }
  --ending_count;
  start_when_all_have_ended();
}

void Fleet::Impl::start_when_all_have_ended() {
  if (ending_count > 0 || is_draining) return;
  for (const StreamPtr& stream : std::exchange(starting, {})) {
    const auto found = streams.find(stream->config().id);
    if (found != streams.end() && found->second == stream) {
      stream->start();
    }
  }
}

std::string Fleet::Impl::current_text() const {
  std::string text;
  // The page shows what was read: an edit must not bring in half of another one.
  if (read_config(config.file, &text).document != config.document) {
    throw Conflict(config.file + " has changed since it was read: reload it first");
  }
  return text;
}

void Fleet::Impl::edit(Config next, const std::string& yaml) {
  const Lines lines = lines_of(next);
  replace_file(config.file, yaml);
  next.document = parse_config(yaml, config.file).document;
  apply(std::move(next), lines);
  warn();
}

std::string Fleet::Impl::device_of(const Stream& stream) const {
  const std::string model = first_model(stream.config());
  return config.models.contains(model) ? config.models[model].value("device", "auto") : "auto";
}

std::map<std::string, std::vector<std::shared_ptr<Stream>>> Fleet::Impl::by_device() const {
  std::map<std::string, std::vector<StreamPtr>> sorted;
  for (const auto& [id, stream] : streams) {
    if (stream->state() == StreamState::kPlaying) {
      sorted[device_of(*stream)].push_back(stream);
    }
  }
  return sorted;
}

void Fleet::Impl::share(const std::string& device, const std::vector<StreamPtr>& playing) {
  std::vector<Demand> demands;
  DeviceLoad load;
  for (const StreamPtr& stream : playing) {
    const Json& keys = stream->config().json;
    const double wants = stream->fps() / keys.value("interval", 1);
    demands.push_back({wants, keys.value("min-fps", 1.0), keys.value("priority", 0U)});
    load.inferred += stream->inferred_fps();
    load.missed += stream->missed_fps();
    load.wanted += wants;
    load.busy += stream->load();
  }
  Overload& overload = overloads[device];
  const bool was_overloaded = overload.is_overloaded();
  overload.update(load);
  if (!overload.is_overloaded() && !was_overloaded) return;
  if (!overload.is_overloaded()) {
    for (const StreamPtr& stream : playing) stream->limit(0);
    tell("", "recovered", "the device serves all streams again");
    return;
  }
  const std::vector<double> shares = shares_of(demands, overload.capacity());
  for (std::size_t i = 0; i < playing.size(); ++i) playing[i]->limit(shares[i]);
  if (was_overloaded) return;
  const auto limited = std::count_if(playing.begin(), playing.end(),
                                     [](const StreamPtr& stream) { return stream->is_limited(); });
  char text[200];
  g_snprintf(text, sizeof text,
             "the device serves %.0f of the %.0f inferences a second that %zu streams want: %zu "
             "streams infer less, down to their min-fps, those of "
             "low priority first",
             overload.capacity(), load.wanted, playing.size(), static_cast<std::size_t>(limited));
  tell("", "overload", text);
}

void Fleet::Impl::add_pictures() {
  const gint64 now = g_get_monotonic_time();
  std::erase_if(wanted_pictures, [&](const Wanted& wanted) {
    const auto event = std::find_if(events.begin(), events.end(),
                                    [&](const Event& one) { return one.number == wanted.event; });
    const auto stream = streams.find(wanted.stream);
    if (event == events.end() || stream == streams.end() || now - wanted.since_us > kPictureUs) {
      return true;
    }
    event->picture = stream->second->picture(kEventWidth);
    return event->picture != nullptr;
  });
}

void Fleet::Impl::warn() {
  for (const auto& warning : label_warnings(config)) {
    if (warned.insert(warning).second) {
      tell(warning.first, "warning", warning.second);
    }
  }
}

void Fleet::Impl::tick() {
  std::erase_if(leaving, [](const StreamPtr& stream) { return stream->is_gone(); });
  for (const auto& [id, stream] : streams) stream->tick();
  for (const auto& [device, playing] : by_device()) share(device, playing);
}

void Fleet::Impl::leave_when_gone(gint64 deadline_us) {
  const auto is_gone = [](const StreamPtr& stream) { return stream->is_gone(); };
  std::vector<StreamPtr> all = leaving;
  for (const auto& [id, stream] : streams) all.push_back(stream);
  const bool are_gone = std::all_of(all.begin(), all.end(), is_gone);
  const gint64 left_us = deadline_us - g_get_monotonic_time();
  if (left_us < static_cast<gint64>(kLeaveMs - kDrainMs) * 1000) {
    for (const StreamPtr& stream : all) stream->stop(nullptr);
  }
  if (!are_gone && left_us > 0) return;
  g_source_remove(std::exchange(drain_timer, 0));
  if (!are_gone) {
    std::cerr << "npu-stream: " << all.size() - std::count_if(all.begin(), all.end(), is_gone)
              << " streams did not end in time; their last lines may be lost" << std::endl;
  }
  drained();
}

Fleet::Fleet(Config config) : impl_(std::make_unique<Impl>(std::move(config))) {
  const Impl::Lines lines = lines_of(impl_->config);
  for (const StreamConfig& stream : impl_->config.streams)
    impl_->streams[stream.id] = impl_->make(stream, lines.at(stream.id));
}

Fleet::~Fleet() = default;

void Fleet::start() {
  impl_->warn();
  for (const auto& [id, stream] : impl_->streams) stream->start();
  constexpr guint kTickMs = 250;
  impl_->timer = g_timeout_add(
      kTickMs,
      [](gpointer data) -> gboolean {
        static int ticks = 0;  // a second is four
        auto* const impl = static_cast<Impl*>(data);
        impl->add_pictures();
        if (++ticks % 4 == 0) {
          impl->tick();
        }
        return G_SOURCE_CONTINUE;
      },
      impl_.get());
}

void Fleet::reload() {
  Config next = read_config(impl_->config.file);
  const Impl::Lines lines = lines_of(next);
  const bool is_same_server = next.server == impl_->config.server;
  impl_->apply(std::move(next), lines);
  impl_->tell("", "reloaded",
              impl_->config.file + " was read again" +
                  (is_same_server ? "" : "; what is new under server needs a restart"));
  impl_->warn();
}

void Fleet::drain(std::function<void()> done) {
  if (impl_->is_draining) return;
  impl_->is_draining = true;
  impl_->drained = std::move(done);
  for (const auto& [id, stream] : impl_->streams) stream->drain();
  using Pair = std::pair<Impl*, gint64>;
  impl_->drain_timer = g_timeout_add_full(
      G_PRIORITY_DEFAULT, 10,
      [](gpointer data) -> gboolean {
        const auto [impl, deadline_us] = *static_cast<Pair*>(data);
        impl->leave_when_gone(deadline_us);
        return G_SOURCE_CONTINUE;
      },
      new Pair(impl_.get(), g_get_monotonic_time() + kLeaveMs * 1000),
      [](gpointer data) { delete static_cast<Pair*>(data); });
}

bool Fleet::is_ready() const {
  return !impl_->is_draining &&
         std::all_of(impl_->streams.begin(), impl_->streams.end(),
                     [](const auto& entry) { return entry.second->was_started(); });
}

const Config& Fleet::config() const {
  return impl_->config;
}

std::vector<StreamSnapshot> Fleet::streams() const {
  std::vector<StreamSnapshot> snapshots;
  for (const StreamConfig& stream : impl_->config.streams)
    snapshots.push_back(impl_->find(stream.id)->snapshot());
  return snapshots;
}

StreamSnapshot Fleet::stream(const std::string& id) const {
  return impl_->find(id)->snapshot();
}
Json Fleet::objects(const std::string& id) const {
  return impl_->find(id)->objects();
}
PicturePtr Fleet::picture(const std::string& id, int width) {
  return impl_->find(id)->picture(width);
}

void Fleet::add(const Json& stream) {
  Json document = impl_->config.document;
  document["streams"].push_back(stream);
  Config next = check_document(std::move(document), impl_->config.file);
  const std::string text = yaml_with_added(impl_->current_text(), impl_->config.file, stream);
  impl_->edit(std::move(next), text);
}

void Fleet::change(const std::string& id, const Json& changes) {
  const std::size_t index = impl_->index_of(id);
  if (!changes.is_object()) {
    throw ConfigError(impl_->config.file, {{"", "a change is an object of keys"}});
  }
  Config next =
      check_document(with_changed(impl_->config.document, index, changes), impl_->config.file);
  const std::string text =
      yaml_with_changed(impl_->current_text(), impl_->config.file, index, changes);
  impl_->edit(std::move(next), text);
}

void Fleet::remove(const std::string& id) {
  const std::size_t index = impl_->index_of(id);
  Json document = impl_->config.document;
  document["streams"].erase(index);
  Config next = check_document(std::move(document), impl_->config.file);
  const std::string text = yaml_with_removed(impl_->current_text(), impl_->config.file, index);
  impl_->edit(std::move(next), text);
}

std::vector<Event> Fleet::events(std::uint64_t after) const {
  std::vector<Event> found;
  for (const Event& event : impl_->events) {
    if (event.number > after) {
      found.push_back(event);
    }
  }
  return found;
}

std::vector<DeviceReading> Fleet::devices() const {
  std::vector<DeviceReading> readings;
  for (const auto& [device, playing] : impl_->by_device()) {
    DeviceReading reading;
    reading.name = device;
    for (const auto& stream : playing) {
      reading.queue += stream->counters().queue;
      reading.inferences_per_second += stream->inferred_fps();
    }
    try {
      auto at = impl_->devices.find(device);
      if (at == impl_->devices.end()) {
        at = impl_->devices.emplace(device, npu::Device::open(device)).first;
      }
      reading.name = at->second.info().name;
      reading.driver = std::to_string(at->second.info().driver_version);
      if (const npu::Version& compiler = at->second.info().compiler; compiler.major > 0) {
        reading.compiler = std::to_string(compiler.major) + "." + std::to_string(compiler.minor);
      }
      reading.memory_bytes = at->second.memory().allocated_bytes;
      reading.utilization = at->second.utilization();
    } catch (const npu::Error&) {  // loader or driver cannot tell; or the device is gone, and the
                                   // streams say so
    }
    readings.push_back(std::move(reading));
  }
  return readings;
}

}  // namespace npustream
