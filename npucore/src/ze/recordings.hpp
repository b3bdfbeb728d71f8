#pragma once

#include <cstdint>
#include <vector>

#include "queue.hpp"
#include "recording.hpp"

namespace npu::ze {

/// What was recorded for the values of one graph's executions. Where driver and loader have mutable
/// command lists, one recording is changed to what is bound. Elsewhere what was recorded for
/// earlier values is kept and used again when they come back: at most kMost recordings, because a
/// driver may keep a copy of the graph's per-inference state for each list.
class Recordings {
 public:
  static constexpr std::size_t kMost = 16;

  /// Of executions in `queue`, with so many lists each.
  Recordings(const Graph& graph, const Queue& queue, const Measurement& measurement,
             std::uint32_t lists);

  /// The one that executes the graph on `values`, to be submitted in the queue. Valid until the
  /// next call. Not while in flight.
  Recording& recording_of(const std::vector<ArgumentValue>& values);

 private:
  Recording& choose(const std::vector<ArgumentValue>& values);
  Recording& make_or_replace();
  void add();
  void drop_forgotten();

  /// The one whose last use is longest ago is the first to go.
  struct Used {
    Recording recording;
    std::uint64_t last_use = 0;
  };

  const Graph& graph_;
  const Measurement& measurement_;
  const std::uint32_t lists_;
  const bool chained_;
  bool changeable_;
  std::vector<Used> recordings_;
  std::size_t last_ = 0;  ///< index of the recording that was used last
  std::uint64_t uses_ = 0;
};

}  // namespace npu::ze
