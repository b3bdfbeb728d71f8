#include "stats.hpp"

#include <algorithm>
#include <functional>

namespace gstnpu {
namespace {

constexpr guint64 kWarmUp = 2;  // the first inferences pay for first touches

// Limits for the recent inferences that make up the latency.
constexpr std::size_t kOutliers = 2;   // so many may take longer
constexpr guint64 kFew = 16;           // with fewer, none counts as an outlier
constexpr guint64 kHeadroomPart = 16;  // adds 1/16 of what is needed

void set(GstStructure* structure, const char* field, guint64 value) {
  gst_structure_set(structure, field, G_TYPE_UINT64, value, nullptr);
}

void set(GstStructure* structure, const std::string& field, const StatsReport::Count& count) {
  set(structure, field.c_str(), count.frames);
  set(structure, (field + "-bytes").c_str(), count.bytes);
}

template <std::size_t size>
void set(GstStructure* structure, const char* field, const std::array<guint64, size>& numbers) {
  GValue list = G_VALUE_INIT, number = G_VALUE_INIT;
  g_value_init(&list, GST_TYPE_ARRAY);
  g_value_init(&number, G_TYPE_UINT64);
  for (const guint64 one : numbers) {
    g_value_set_uint64(&number, one);
    gst_value_array_append_value(&list, &number);
  }
  gst_structure_take_value(structure, field, &list);
}

void add_histogram(GstStructure* structure, const std::string& name, const Histogram& histogram) {
  set(structure, (name + "-histogram").c_str(), histogram.counts);
  set(structure, (name + "-sum").c_str(), histogram.sum_ns);
}

void add_reasons(GstStructure* structure, const std::vector<StatsReport::Reason>& reasons) {
  std::string text;
  for (const StatsReport::Reason& reason : reasons) {
    set(structure, std::string("copied-") + to_string(reason.cause), reason.count);
    text += (text.empty() ? "" : "; ") + std::to_string(reason.count.frames) +
            (reason.count.frames == 1 ? " frame: " : " frames: ") + reason.text;
  }
  gst_structure_set(structure, "copy-reasons", G_TYPE_STRING, text.c_str(), nullptr);
}

}  // namespace

GstStructure* to_structure(const StatsReport& report) {
  GstStructure* structure = gst_structure_new_empty("npu-stats");
  set(structure, "frames", report.frames);
  set(structure, "inferred", report.inferred);
  set(structure, "dropped", report.dropped);
  set(structure, "late", report.late);
  set(structure, "lost", report.lost);
  set(structure, "gap", report.gap);
  set(structure, "skipped", report.skipped);
  set(structure, "no-objects", report.no_objects);
  set(structure, "regions", report.regions);
  set(structure, "regions-refused", report.regions_refused);
  set(structure, "interlaced", report.interlaced);
  set(structure, "zero-copy",
      {report.offered.frames + report.imported.frames,
       report.offered.bytes + report.imported.bytes});
  set(structure, "offered", report.offered);
  set(structure, "imported", report.imported);
  set(structure, "imports", report.imports);
  set(structure, "import-evictions", report.import_evictions);
  set(structure, "copied", report.copied);
  set(structure, "compile-time", report.compile_ns);
  set(structure, "inference-time", report.inference_ns);
  set(structure, "inference-time-mean", report.inference_ns_mean);
  set(structure, "inference-time-last", report.inference_ns_last);
  set(structure, "device-time", report.device_ns);
  set(structure, "queue-time", report.queue_ns);
  set(structure, "latency-p50", report.latency_ns_p50);
  set(structure, "latency-p95", report.latency_ns_p95);
  set(structure, "latency-p99", report.latency_ns_p99);
  set(structure, "histogram-bounds", Histogram::kBoundsNs);
  add_histogram(structure, "latency", report.latencies);
  add_histogram(structure, "queue", report.queueing);
  set(structure, "busy-time", report.busy_ns);
  set(structure, "wall-time", report.wall_ns);
  set(structure, "downstream-time", report.downstream_ns);
  gst_structure_set(structure, "device", G_TYPE_STRING, report.device.c_str(), "offered-memory",
                    G_TYPE_STRING, report.offered_memory.c_str(), nullptr);
  add_reasons(structure, report.reasons);
  return structure;
}

void Histogram::add(guint64 ns) {
  const auto* const bucket = std::lower_bound(kBoundsNs.begin(), kBoundsNs.end(), ns);
  ++counts[static_cast<std::size_t>(bucket - kBoundsNs.begin())];
  sum_ns += ns;
}

void StatsReport::Count::add(gsize frame_bytes) {
  ++frames;
  bytes += frame_bytes;
}

void Stats::count_frame(gsize bytes) {
  const std::scoped_lock lock(mutex_);
  counted_.frames.add(bytes);
}

void Stats::count(guint64 StatsReport::*frames, guint64 how_many) {
  const std::scoped_lock lock(mutex_);
  counted_.*frames += how_many;
}

void Stats::count_zero_copy(InputPath path, gsize bytes) {
  const std::scoped_lock lock(mutex_);
  (path == InputPath::kOffered ? counted_.offered : counted_.imported).add(bytes);
}

bool Stats::count_copy(CopyCause cause, gsize bytes, const std::string& text) {
  const std::scoped_lock lock(mutex_);
  counted_.copied.add(bytes);
  auto& reasons = counted_.reasons;
  const auto known =
      std::find_if(reasons.begin(), reasons.end(),
                   [&](const StatsReport::Reason& reason) { return reason.cause == cause; });
  const bool is_new = known == reasons.end();
  auto& reason = is_new ? reasons.emplace_back(StatsReport::Reason{cause, text, {}}) : *known;
  reason.count.add(bytes);
  return is_new;
}

void RecentTimes::add(guint64 ns) {
  if (times_ns_.size() < most_) {
    times_ns_.reserve(most_);
    times_ns_.push_back(ns);
    return;
  }
  times_ns_[next_] = ns;
  next_ = (next_ + 1) % most_;
}

guint64 RecentTimes::slowest_but(std::size_t left_out) const {
  if (times_ns_.empty()) return 0;
  sorted_.reserve(most_);
  sorted_ = times_ns_;
  const auto slowest = sorted_.begin() + static_cast<std::ptrdiff_t>(left_out);
  std::nth_element(sorted_.begin(), slowest, sorted_.end(), std::greater<>());
  return *slowest;
}

guint64 RecentTimes::percentile_ns(guint percent) const {
  if (times_ns_.empty()) return 0;
  return slowest_but((times_ns_.size() - 1) * (100 - percent) / 100);
}

void Stats::count_inference(const InferenceTime& time, guint64 waited_ns) {
  const std::scoped_lock lock(mutex_);
  const guint64 ns = time.elapsed_ns();
  inference_.add(ns);
  device_.add(time.device_ns);
  queued_.add(waited_ns + ns - time.device_ns);
  counted_.queueing.add(waited_ns + ns - time.device_ns);
  if (inferences_++ == 0) {
    first_submitted_ns_ = time.submitted_ns;
  }
  counted_.wall_ns = time.done_ns - first_submitted_ns_;
  counted_.busy_ns += time.device_ns;
  inference_ns_sum_ += ns;
  counted_.inference_ns_last = ns;
}

void Stats::count_latency(guint64 ns) {
  const std::scoped_lock lock(mutex_);
  latencies_.add(ns);
  counted_.latencies.add(ns);
}

void Stats::count_push(guint64 ns) {
  const std::scoped_lock lock(mutex_);
  pushes_.add(ns);
}

guint64 Stats::counted(guint64 StatsReport::*frames) const {
  const std::scoped_lock lock(mutex_);
  return counted_.*frames;
}

StatsReport Stats::report() const {
  const std::scoped_lock lock(mutex_);
  StatsReport report = counted_;
  report.inference_ns = inference_.median_ns();
  report.device_ns = device_.median_ns();
  report.queue_ns = queued_.median_ns();
  report.latency_ns_p50 = latencies_.percentile_ns(50);
  report.latency_ns_p95 = latencies_.percentile_ns(95);
  report.latency_ns_p99 = latencies_.percentile_ns(99);
  report.downstream_ns = pushes_.median_ns();
  report.inference_ns_mean = inferences_ ? inference_ns_sum_ / inferences_ : 0;
  return report;
}

bool LatencyEstimate::assume(guint64 ns) {
  const std::scoped_lock lock(mutex_);
  if (ns <= reported_ns_) return false;
  reported_ns_ = ns;
  return true;
}

bool LatencyEstimate::observe(guint64 inference_ns) {
  const std::scoped_lock lock(mutex_);
  if (++seen_ <= kWarmUp) return false;
  recent_.add(inference_ns);
  const guint64 settled = changed_at_ == 0 ? kFew : kWindow;
  const bool may_fall = seen_ >= changed_at_ + settled && seen_ % kFew == 0;
  if (inference_ns <= reported_ns_ && !may_fall) return false;
  const guint64 needed = recent_.slowest_but(recent_.size() < kFew ? 0 : kOutliers);
  const guint64 wanted = needed + needed / kHeadroomPart;
  if (needed <= reported_ns_ && wanted > reported_ns_ - reported_ns_ / 8) return false;
  reported_ns_ = wanted;
  changed_at_ = seen_;
  return true;
}

guint64 LatencyEstimate::reported_ns() const {
  const std::scoped_lock lock(mutex_);
  return reported_ns_;
}

}  // namespace gstnpu
