#include "recordings.hpp"

#include <algorithm>

namespace npu::ze {

Recordings::Recordings(const Graph& graph, const Queue& queue, const Measurement& measurement,
                       std::uint32_t lists)
    : graph_(graph),
      measurement_(measurement),
      lists_(lists),
      chained_(queue.is_chained()),
      changeable_(graph.device().mutable_lists),
      entry_(graph.device().memory_users, *this) {}

Recordings::Use::Use(Recordings& recordings, const std::vector<ArgumentValue>& values)
    : lock_(recordings.mutex_), recording_(recordings.choose(values)) {
  try {
    recordings.set(recording_, values);
  } catch (...) {
    recording_.drop();
    throw;
  }
}

void Recordings::set(Recording& recording, const std::vector<ArgumentValue>& values) {
  if (chained_) return recording.note(values);
  recordings_[last_].last_use = ++uses_;
  recording.set(values);
  changeable_ = recording.is_changeable();
}

/// The recording for `values`, else a new one, or the one whose last use is longest ago.
Recording& Recordings::choose(const std::vector<ArgumentValue>& values) {
  if (recordings_.empty()) {
    add();
  }
  if (chained_ || changeable_) return recordings_.front().recording;
  // Buffers mostly come round in turn: try the next one first.
  for (std::size_t ahead = 0; ahead < recordings_.size(); ++ahead) {
    const std::size_t index = (last_ + 1 + ahead) % recordings_.size();
    if (recordings_[index].recording.values() == values) {
      last_ = index;
      return recordings_[index].recording;
    }
  }
  return make_or_replace();
}

Recording& Recordings::make_or_replace() {
  const auto dropped = std::find_if(recordings_.begin(), recordings_.end(), [](const Used& used) {
    return used.recording.values().empty();
  });
  if (dropped != recordings_.end()) {
    last_ = static_cast<std::size_t>(dropped - recordings_.begin());
  } else if (recordings_.size() < kMost) {
    add();
    last_ = recordings_.size() - 1;
  } else {
    const auto oldest =
        std::min_element(recordings_.begin(), recordings_.end(),
                         [](const Used& a, const Used& b) { return a.last_use < b.last_use; });
    last_ = static_cast<std::size_t>(oldest - recordings_.begin());
  }
  return recordings_[last_].recording;
}

void Recordings::add() {
  recordings_.push_back({Recording(graph_, measurement_, lists_, changeable_), 0});
}

void Recordings::forget(const MemoryRange& range) noexcept {
  std::scoped_lock lock(mutex_);
  for (Used& used : recordings_) {
    if (used.recording.names(range)) {
      used.recording.drop();
    }
  }
}

}  // namespace npu::ze
