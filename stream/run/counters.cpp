#include "counters.hpp"

#include <algorithm>
#include <cstring>
#include <vector>

namespace npustream {
namespace {

constexpr double kNsPerMs = 1e6;

/// "12 frames: ordinary memory ...; 3 frames: ..." gives the text of each reason, in the order of
/// their fields.
std::vector<std::string> copy_texts(const GstStructure* stats) {
  const gchar* const text = gst_structure_get_string(stats, "copy-reasons");
  std::vector<std::string> texts;
  if (!text || !*text) return texts;
  gchar** const parts = g_strsplit(text, "; ", -1);
  for (gchar** part = parts; *part; ++part) {
    const gchar* const colon = std::strstr(*part, ": ");
    const bool is_new = colon && g_ascii_isdigit(**part);
    if (is_new) {
      texts.emplace_back(colon + 2);
    } else if (!texts.empty()) {
      texts.back() += std::string("; ") + *part;
    }
  }
  g_strfreev(parts);
  return texts;
}

void add_copies(const GstStructure* stats, std::map<std::string, CopyCount>* copies) {
  const std::vector<std::string> texts = copy_texts(stats);
  std::size_t next = 0;
  for (gint i = 0; i < gst_structure_n_fields(stats); ++i) {
    const std::string field = gst_structure_nth_field_name(stats, static_cast<guint>(i));
    const bool is_reason = field.rfind("copied-", 0) == 0 && !field.ends_with("-bytes");
    if (!is_reason) continue;
    const std::string reason = field.substr(std::strlen("copied-"));
    CopyCount& copy = (*copies)[reason];
    copy.reason = reason;
    copy.frames += number_of(stats, field.c_str());
    if (next < texts.size()) {
      copy.cure = texts[next];
    }
    ++next;
  }
}

std::vector<std::uint64_t> numbers_of(const GstStructure* stats, const char* field) {
  std::vector<std::uint64_t> numbers;
  const GValue* const list = gst_structure_get_value(stats, field);
  if (!list || !GST_VALUE_HOLDS_ARRAY(list)) return numbers;
  for (guint i = 0; i < gst_value_array_get_size(list); ++i)
    numbers.push_back(g_value_get_uint64(gst_value_array_get_value(list, i)));
  return numbers;
}

void add_times(const GstStructure* stats, const std::string& name, TimeCounts* times) {
  times->bounds.clear();
  for (const std::uint64_t ns : numbers_of(stats, "histogram-bounds"))
    times->bounds.push_back(static_cast<double>(ns) / GST_SECOND);
  const auto counts = numbers_of(stats, (name + "-histogram").c_str());
  times->counts.resize(counts.size());
  for (std::size_t i = 0; i < counts.size(); ++i) times->counts[i] += counts[i];
  times->sum += static_cast<double>(number_of(stats, (name + "-sum").c_str())) / GST_SECOND;
}

}  // namespace

std::uint64_t number_of(const GstStructure* stats, const char* field) {
  guint64 value = 0;
  gst_structure_get_uint64(stats, field, &value);
  return value;
}

void add_stats(const GstStructure* stats, StreamCounters* counters) {
  const std::uint64_t frames = number_of(stats, "frames"), inferred = number_of(stats, "inferred");
  const std::uint64_t missed = number_of(stats, "dropped") + number_of(stats, "late");
  const std::uint64_t skipped = number_of(stats, "skipped"), lost = number_of(stats, "lost");
  const std::uint64_t out =
      inferred + missed + skipped + lost + number_of(stats, "gap") + number_of(stats, "no-objects");
  counters->frames += frames;
  counters->inferred += inferred;
  counters->missed += missed;
  counters->skipped += skipped;
  counters->lost += lost;
  constexpr std::uint64_t kMostInFlight = 64;  // frames that a flush took stay in the difference
  counters->queue = std::min(kMostInFlight, frames - std::min(frames, out));
  counters->latency_p50_ms = static_cast<double>(number_of(stats, "latency-p50")) / kNsPerMs;
  counters->latency_p95_ms = static_cast<double>(number_of(stats, "latency-p95")) / kNsPerMs;
  add_times(stats, "latency", &counters->latency);
  add_times(stats, "queue", &counters->queueing);
  counters->compile_ns = number_of(stats, "compile-time");
  add_copies(stats, &counters->copies);
}

}  // namespace npustream
