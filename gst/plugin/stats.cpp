#include "plugin/stats.hpp"

#include <algorithm>

namespace gstnpu {
namespace {

constexpr std::size_t kRecent = 256;
constexpr guint kWarmUp = 2;  // inferences that pay for first touches

}  // namespace

void Stats::reset() {
  const std::lock_guard lock(mutex_);
  frames_ = own_ = imported_ = copied_ = copied_bytes_ = imports_ = inferred_ = 0;
  inference_ns_sum_ = inference_ns_last_ = 0;
  recent_ns_.clear();
  told_.reset();
  reasons_.clear();
}

void Stats::count_frame() {
  const std::lock_guard lock(mutex_);
  ++frames_;
}

void Stats::count_input(InputPath path, gsize bytes) {
  const std::lock_guard lock(mutex_);
  switch (path) {
    case InputPath::kOwnMemory:
      ++own_;
      break;
    case InputPath::kImported:
      ++imported_;
      break;
    case InputPath::kCopied:
      ++copied_;
      copied_bytes_ += bytes;
      break;
  }
}

bool Stats::count_copy(CopyCause cause, const std::string& text) {
  const std::lock_guard lock(mutex_);
  const auto bit = static_cast<std::size_t>(cause);
  if (told_.test(bit)) return false;
  told_.set(bit);
  reasons_.push_back(text);
  return true;
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

void Stats::set_imports(guint64 imports) {
  const std::lock_guard lock(mutex_);
  imports_ = imports;
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

GstStructure* Stats::to_structure() const {
  const std::lock_guard lock(mutex_);
  std::string reasons;
  for (const std::string& reason : reasons_) reasons += (reasons.empty() ? "" : "; ") + reason;
  return gst_structure_new(
      "npu-stats", "frames", G_TYPE_UINT64, frames_, "zero-copy", G_TYPE_UINT64, own_ + imported_,
      "own-memory", G_TYPE_UINT64, own_, "imported", G_TYPE_UINT64, imported_, "copied",
      G_TYPE_UINT64, copied_, "copied-bytes", G_TYPE_UINT64, copied_bytes_, "imports",
      G_TYPE_UINT64, imports_, "inferred", G_TYPE_UINT64, inferred_, "compile-time", G_TYPE_UINT64,
      compile_ns_, "inference-time", G_TYPE_UINT64, median_ns(), "inference-time-mean",
      G_TYPE_UINT64, inferred_ ? inference_ns_sum_ / inferred_ : 0, "inference-time-last",
      G_TYPE_UINT64, inference_ns_last_, "device", G_TYPE_STRING, device_.c_str(), "copy-reasons",
      G_TYPE_STRING, reasons.c_str(), nullptr);
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
