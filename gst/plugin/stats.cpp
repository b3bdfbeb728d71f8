#include "plugin/stats.hpp"

#include <algorithm>

namespace gstnpu {
namespace {

constexpr std::size_t kRecent = 256;
constexpr guint kWarmUp = 2;  // inferences that pay for first touches

void set(GstStructure* structure, const char* field, guint64 value) {
  gst_structure_set(structure, field, G_TYPE_UINT64, value, nullptr);
}

}  // namespace

void Stats::Count::add(gsize frame_bytes) {
  ++frames;
  bytes += frame_bytes;
}

void Stats::reset() {
  const std::lock_guard lock(mutex_);
  frames_ = offered_ = imported_ = copied_ = {};
  imports_ = evictions_ = inferred_ = 0;
  inference_ns_sum_ = inference_ns_last_ = 0;
  recent_ns_.clear();
  reasons_.clear();
}

void Stats::count_frame(gsize bytes) {
  const std::lock_guard lock(mutex_);
  frames_.add(bytes);
}

void Stats::count_zero_copy(InputPath path, gsize bytes) {
  const std::lock_guard lock(mutex_);
  (path == InputPath::kOffered ? offered_ : imported_).add(bytes);
}

bool Stats::count_copy(CopyCause cause, gsize bytes, const std::string& text) {
  const std::lock_guard lock(mutex_);
  copied_.add(bytes);
  const auto known = std::find_if(reasons_.begin(), reasons_.end(),
                                  [&](const Reason& reason) { return reason.cause == cause; });
  const bool is_new = known == reasons_.end();
  Reason& reason = is_new ? reasons_.emplace_back(Reason{cause, text, {}}) : *known;
  reason.count.add(bytes);
  return is_new;
}

void Stats::count_inference(guint64 ns) {
  const std::lock_guard lock(mutex_);
  if (recent_ns_.size() < kRecent) recent_ns_.push_back(ns);
  recent_ns_[inferred_ % kRecent] = ns;
  ++inferred_;
  inference_ns_sum_ += ns;
  inference_ns_last_ = ns;
}

void Stats::set_compile_ns(guint64 ns) {
  const std::lock_guard lock(mutex_);
  compile_ns_ = ns;
}

void Stats::set_imports(guint64 imports, guint64 evictions) {
  const std::lock_guard lock(mutex_);
  imports_ = imports;
  evictions_ = evictions;
}

void Stats::set_offered_memory(const std::string& source) {
  const std::lock_guard lock(mutex_);
  offered_memory_ = source;
}

void Stats::set_device(const std::string& device) {
  const std::lock_guard lock(mutex_);
  device_ = device;
}

guint64 Stats::median_ns() const {
  if (recent_ns_.empty()) return 0;
  std::vector<guint64> sorted = recent_ns_;
  const auto middle = sorted.begin() + static_cast<std::ptrdiff_t>(sorted.size() / 2);
  std::nth_element(sorted.begin(), middle, sorted.end());
  return *middle;
}

void Stats::add_reasons(GstStructure* structure) const {
  std::string reasons;
  for (const Reason& reason : reasons_) {
    const std::string name = std::string("copied-") + to_string(reason.cause);
    set(structure, name.c_str(), reason.count.frames);
    set(structure, (name + "-bytes").c_str(), reason.count.bytes);
    reasons += (reasons.empty() ? "" : "; ") + std::to_string(reason.count.frames) +
               (reason.count.frames == 1 ? " frame: " : " frames: ") + reason.text;
  }
  gst_structure_set(structure, "copy-reasons", G_TYPE_STRING, reasons.c_str(), nullptr);
}

GstStructure* Stats::to_structure() const {
  const std::lock_guard lock(mutex_);
  GstStructure* structure = gst_structure_new_empty("npu-stats");
  set(structure, "frames", frames_.frames);
  set(structure, "frames-bytes", frames_.bytes);
  set(structure, "inferred", inferred_);
  set(structure, "zero-copy", offered_.frames + imported_.frames);
  set(structure, "zero-copy-bytes", offered_.bytes + imported_.bytes);
  set(structure, "offered", offered_.frames);
  set(structure, "offered-bytes", offered_.bytes);
  set(structure, "imported", imported_.frames);
  set(structure, "imported-bytes", imported_.bytes);
  set(structure, "imports", imports_);
  set(structure, "import-evictions", evictions_);
  set(structure, "copied", copied_.frames);
  set(structure, "copied-bytes", copied_.bytes);
  set(structure, "compile-time", compile_ns_);
  set(structure, "inference-time", median_ns());
  set(structure, "inference-time-mean", inferred_ ? inference_ns_sum_ / inferred_ : 0);
  set(structure, "inference-time-last", inference_ns_last_);
  gst_structure_set(structure, "device", G_TYPE_STRING, device_.c_str(), "offered-memory",
                    G_TYPE_STRING, offered_memory_.c_str(), nullptr);
  add_reasons(structure);
  return structure;
}

void LatencyEstimate::reset() {
  const std::lock_guard lock(mutex_);
  reported_ns_ = 0;
  seen_ = 0;
}

void LatencyEstimate::assume(guint64 ns) {
  const std::lock_guard lock(mutex_);
  reported_ns_ = std::max(reported_ns_, ns);
}

bool LatencyEstimate::observe(guint64 inference_ns) {
  const std::lock_guard lock(mutex_);
  if (++seen_ <= kWarmUp || inference_ns <= reported_ns_) return false;
  reported_ns_ = inference_ns + inference_ns / 4;  // headroom, so that it settles
  return true;
}

guint64 LatencyEstimate::reported_ns() const {
  const std::lock_guard lock(mutex_);
  return reported_ns_;
}

}  // namespace gstnpu
