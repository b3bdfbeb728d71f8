#pragma once

#include <cstdint>
#include <mutex>
#include <vector>

#include "queue.hpp"
#include "recording.hpp"

namespace npu::ze {

/// The recordings for one graph's executions. If driver and loader have mutable command lists, one
/// recording is changed to each new binding. Otherwise recordings of earlier values are kept for
/// when the values come back: at most kMost, because a driver may keep a copy of the graph's
/// per-inference state for each list. They own no memory: those that name freed memory are dropped
/// first. The caller owns what is submitted.
class Recordings final : MemoryUser {
 public:
  /// A recording on its way to a submission; meanwhile no other thread frees memory that it names.
  /// Dropped unless it was submitted.
  class Use {
   public:
    /// The recording that executes the graph on `values`. It stays valid until the next use, as
    /// long as its memory lives. Make no Use in flight.
    Use(Recordings& recordings, const std::vector<ArgumentValue>& values);
    Use(const Use&) = delete;
    Use& operator=(const Use&) = delete;
    ~Use() {
      if (!submitted_) {
        recording_.drop();
      }
    }

    Recording& recording() const { return recording_; }
    void was_submitted() {
      recording_.was_submitted();
      submitted_ = true;
    }

   private:
    const std::scoped_lock<std::mutex> lock_;
    Recording& recording_;
    bool submitted_ = false;
  };

  static constexpr std::size_t kMost = 16;

  /// For executions in `queue`, with so many lists each.
  Recordings(const Graph& graph, const Queue& queue, const Measurement& measurement,
             std::uint32_t lists);

 private:
  void forget(const MemoryRange& range) noexcept override;
  Recording& choose(const std::vector<ArgumentValue>& values);
  void set(Recording& recording, const std::vector<ArgumentValue>& values);
  Recording& make_or_replace();
  void add();

  /// A recording; the one whose last use is longest ago is replaced first.
  struct Used {
    Recording recording;
    std::uint64_t last_use = 0;
  };

  const Graph& graph_;
  const Measurement& measurement_;
  const std::uint32_t lists_;
  const bool chained_;
  std::mutex mutex_;  // guards everything below, except a recording submitted again as it is
  bool changeable_;
  std::vector<Used> recordings_;
  std::size_t last_ = 0;  ///< index of the recording that was used last
  std::uint64_t uses_ = 0;
  const MemoryUsers::Entry entry_;
};

}  // namespace npu::ze
