#include "recordings.hpp"

#include <algorithm>

namespace npu::ze {

Recordings::Recordings(const Graph& graph, const Queue& queue, const Measurement& measurement,
                       std::uint32_t lists)
    : graph_(graph),
      measurement_(measurement),
      lists_(lists),
      chained_(queue.is_chained()),
      changeable_(graph.device().mutable_lists) {}

Recording& Recordings::recording_of(const std::vector<ArgumentValue>& values) {
  if (chained_) {
    if (recordings_.empty()) {
      add();
    }
    recordings_.front().recording.note(values);
    return recordings_.front().recording;
  }
  Recording& recording = choose(values);
  recordings_[last_].last_use = ++uses_;
  recording.set(values);
  changeable_ = recording.is_changeable();
  return recording;
}

/// The one recorded for `values`, else a new one or the one that was not used for the longest time.
Recording& Recordings::choose(const std::vector<ArgumentValue>& values) {
  if (changeable_ && !recordings_.empty()) return recordings_.front().recording;
  // Buffers mostly come round in turn: the next one first.
  for (std::size_t ahead = 0; ahead < recordings_.size(); ++ahead) {
    const std::size_t index = (last_ + 1 + ahead) % recordings_.size();
    if (recordings_[index].recording.values() == values) {
      last_ = index;
      return recordings_[index].recording;
    }
  }
  drop_forgotten();
  return make_or_replace();
}

Recording& Recordings::make_or_replace() {
  if (recordings_.size() < kMost) {
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

/// What was recorded for memory that does not come back.
void Recordings::drop_forgotten() {
  const auto is_forgotten = [](const ArgumentValue& value) {
    return value.memory && value.memory->load(std::memory_order_relaxed);
  };
  std::erase_if(recordings_, [&](const Used& used) {
    return std::any_of(used.recording.values().begin(), used.recording.values().end(),
                       is_forgotten);
  });
}

}  // namespace npu::ze
