#include "statistics.hpp"

#include <algorithm>
#include <map>
#include <utility>
#include <vector>

namespace gstnpu {
namespace {

constexpr gint64 kWindow_us = 500000;
constexpr std::size_t kMostClasses = 4;
constexpr const char* kBetween = " \u00b7 ";

/// Writes a decimal point in every locale, like all other output.
std::string text_of(const char* format, double value) {
  char text[32];
  return g_ascii_formatd(text, sizeof text, format, value);
}

void append(std::string* line, const std::string& part) {
  if (part.empty()) return;
  *line += line->empty() ? part : kBetween + part;
}

/// "3 car, 1 person", the most frequent first, then by name.
std::string objects_in(std::span<const FoundObject> regions) {
  std::map<std::string, std::size_t> counts;
  for (const FoundObject& region : regions) ++counts[region.label.empty() ? "?" : region.label];
  std::vector<std::pair<std::string, std::size_t>> sorted(counts.begin(), counts.end());
  std::stable_sort(sorted.begin(), sorted.end(),
                   [](const auto& one, const auto& other) { return one.second > other.second; });
  std::string text;
  for (std::size_t i = 0; i < std::min(sorted.size(), kMostClasses); ++i) {
    text += (text.empty() ? "" : ", ") + std::to_string(sorted[i].second) + " " + sorted[i].first;
  }
  if (sorted.size() > kMostClasses) {
    text += ", " + std::to_string(sorted.size() - kMostClasses) + " more classes";
  }
  return text.empty() ? "no objects" : text;
}

}  // namespace

void Statistics::measure(gint64 now_us) {
  speed_.clear();
  append(&speed_,
         text_of("%.1f", frames_ * 1e6 / static_cast<double>(now_us - *since_us_)) + " fps");
  if (inferred_ > 0) {
    append(&speed_, text_of("%.1f", static_cast<double>(inference_ns_) / inferred_ / 1e6) + " ms");
  }
  const std::optional<BusyTime> busy = busy_time_ ? busy_time_() : std::nullopt;
  const bool has_gone_on = busy && busy_before_ && busy->wall_ns > busy_before_->wall_ns &&
                           busy->busy_ns >= busy_before_->busy_ns;
  if (has_gone_on) {
    const auto share = static_cast<double>(busy->busy_ns - busy_before_->busy_ns) /
                       static_cast<double>(busy->wall_ns - busy_before_->wall_ns);
    append(&speed_, "NPU " + text_of("%.0f", 100 * std::min(share, 1.0)) + "%");
  }
  busy_before_ = busy;
}

void Statistics::count(gint64 now_us, guint64 inference_ns, std::span<const FoundObject> regions) {
  const bool is_first = !since_us_;
  if (is_first) {
    since_us_ = now_us;
    busy_before_ = busy_time_ ? busy_time_() : std::nullopt;
  }
  const bool is_over = now_us - *since_us_ >= kWindow_us;
  if (is_over) {
    measure(now_us);
    since_us_ = now_us;
    frames_ = inferred_ = 0;
    inference_ns_ = 0;
  }
  ++frames_;
  inferred_ += inference_ns > 0 ? 1 : 0;
  inference_ns_ += inference_ns;
  if (!is_first && !is_over) return;
  line_ = speed_;
  append(&line_, objects_in(regions));
}

}  // namespace gstnpu
