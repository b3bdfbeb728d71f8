#include "stats.hpp"

#include <algorithm>

namespace gstnpu {
namespace {

constexpr std::size_t kRecent = 256;
constexpr guint kWarmUp = 2;  // inferences that pay for first touches

void set(GstStructure* structure, const char* field, guint64 value) {
  gst_structure_set(structure, field, G_TYPE_UINT64, value, nullptr);
}

void set(GstStructure* structure, const std::string& field, const StatsReport::Count& count) {
  set(structure, field.c_str(), count.frames);
  set(structure, (field + "-bytes").c_str(), count.bytes);
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
  gst_structure_set(structure, "device", G_TYPE_STRING, report.device.c_str(), "offered-memory",
                    G_TYPE_STRING, report.offered_memory.c_str(), nullptr);
  add_reasons(structure, report.reasons);
  return structure;
}

void StatsReport::Count::add(gsize frame_bytes) {
  ++frames;
  bytes += frame_bytes;
}

void Stats::count_frame(gsize bytes) {
  const std::scoped_lock lock(mutex_);
  counted_.frames.add(bytes);
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

void Stats::count_inference(guint64 ns) {
  const std::scoped_lock lock(mutex_);
  if (recent_ns_.size() < kRecent) {
    recent_ns_.push_back(ns);
  }
  recent_ns_[counted_.inferred % kRecent] = ns;
  ++counted_.inferred;
  inference_ns_sum_ += ns;
  counted_.inference_ns_last = ns;
}

guint64 Stats::median_ns() const {
  if (recent_ns_.empty()) return 0;
  std::vector<guint64> sorted = recent_ns_;
  const auto middle = sorted.begin() + static_cast<std::ptrdiff_t>(sorted.size() / 2);
  std::nth_element(sorted.begin(), middle, sorted.end());
  return *middle;
}

StatsReport Stats::report() const {
  const std::scoped_lock lock(mutex_);
  StatsReport report = counted_;
  report.inference_ns = median_ns();
  report.inference_ns_mean = counted_.inferred ? inference_ns_sum_ / counted_.inferred : 0;
  return report;
}

void LatencyEstimate::assume(guint64 ns) {
  const std::scoped_lock lock(mutex_);
  reported_ns_ = std::max(reported_ns_, ns);
}

bool LatencyEstimate::observe(guint64 inference_ns) {
  const std::scoped_lock lock(mutex_);
  if (++seen_ <= kWarmUp || inference_ns <= reported_ns_) return false;
  reported_ns_ = inference_ns + inference_ns / 4;  // headroom, so that it settles
  return true;
}

guint64 LatencyEstimate::reported_ns() const {
  const std::scoped_lock lock(mutex_);
  return reported_ns_;
}

}  // namespace gstnpu
