#pragma once

#include <cstdint>
#include <mutex>
#include <vector>

#include "queue.hpp"
#include "recording.hpp"

namespace npu::ze {

/// What was recorded for the values of one graph's executions. Where driver and loader have mutable
/// command lists, one recording is changed to what is bound. Elsewhere what was recorded for
/// earlier values is kept and used again when they come back: at most kMost recordings, because a
/// driver may keep a copy of the graph's per-inference state for each list. They own no memory:
/// what names memory that is freed is dropped first. The caller owns what is submitted.
class Recordings final : MemoryUser {
 public:
  /// A recording on its way to a submission; no other thread frees what it names meanwhile. Dropped
  /// unless it was submitted.
  class Use {
   public:
    /// The recording that executes the graph on `values`. It stays as it is until the next use, for
    /// as long as its memory is kept. Not while in flight.
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

  /// Of executions in `queue`, with so many lists each.
  Recordings(const Graph& graph, const Queue& queue, const Measurement& measurement,
             std::uint32_t lists);

 private:
  void forget(const MemoryRange& range) noexcept override;
  Recording& choose(const std::vector<ArgumentValue>& values);
  void set(Recording& recording, const std::vector<ArgumentValue>& values);
  Recording& make_or_replace();
  void add();

  /// The one whose last use is longest ago is the first to go.
  struct Used {
    Recording recording;
    std::uint64_t last_use = 0;
  };

  const Graph& graph_;
  const Measurement& measurement_;
  const std::uint32_t lists_;
  const bool chained_;
  std::mutex mutex_;  // guards everything below, but for a recording that is submitted as it is
  bool changeable_;
  std::vector<Used> recordings_;
  std::size_t last_ = 0;  ///< index of the recording that was used last
  std::uint64_t uses_ = 0;
  const MemoryUsers::Entry entry_;
};

}  // namespace npu::ze
