#pragma once

#include <glib.h>

#include <exception>
#include <functional>
#include <memory>
#include <mutex>

#include <npucore/request.hpp>

#include "fence_watch.hpp"
#include "turns.hpp"

namespace gstnpu {

/// Time of the steady clock.
guint64 now_ns();

struct InferenceTime {
  guint64 submitted_ns = 0;
  guint64 done_ns = 0;    ///< when the fence was seen
  guint64 device_ns = 0;  ///< part of it in which no earlier inference ran
  guint64 elapsed_ns() const { return done_ns - submitted_ns; }
};

/// A stream's unfinished inferences, and how long the device takes for one. Thread-safe.
class Backlog {
 public:
  /// `device`: backlog of all streams that share the device; null where this stream has it alone.
  /// `turns`: told of each inference that ends; may be null.
  explicit Backlog(std::shared_ptr<Backlog> device = nullptr,
                   std::shared_ptr<Turns> turns = nullptr);
  Backlog(const Backlog&) = delete;
  Backlog& operator=(const Backlog&) = delete;
  ~Backlog();

  /// Sets a function to call after each inference that ends; call this before the first.
  void tell_ends(std::function<void()> told) { told_ = std::move(told); }

  void add(guint64 now_ns);
  /// Undoes add() for an inference that was not submitted. Its turn is not given back.
  void take_back();
  /// Fills in `time.device_ns`. A failed inference does not count towards the device's pace.
  void end(InferenceTime& time, bool failed);

  /// Unfinished inferences of this stream.
  guint unfinished() const;
  /// How long an inference that is submitted at `now_ns` would take, judged by recent ones; 0 when
  /// there were none.
  guint64 expected_ns(guint64 now_ns) const;
  /// Smoothed device time of recent inferences.
  guint64 device_ns() const;
  /// The longest that a frame should wait where streams take turns: an inference of each stream,
  /// and the one that runs.
  guint64 fair_ns() const;

 private:
  bool is_stale(guint64 now_ns) const;
  void note_end(InferenceTime& time, bool failed);

  const std::shared_ptr<Backlog> device_;
  const std::shared_ptr<Turns> turns_;
  std::function<void()> told_;
  std::atomic<guint> streams_{0};  // that share this one
  mutable std::mutex mutex_;       // guards all below
  guint unfinished_ = 0;
  guint64 idle_until_ns_ = 0;  // when the oldest unfinished inference reached the device
  guint64 device_ns_ = 0;
};

/// A request that notes when its inference ended, however late the wait for it.
class TimedRequest final : public Watched {
 public:
  explicit TimedRequest(npu::Request request) : request_(std::move(request)) {}
  TimedRequest(const TimedRequest&) = delete;
  TimedRequest& operator=(const TimedRequest&) = delete;

  /// The inference must be waited for; `watch` outlives it.
  std::uint64_t submit(const npu::Bindings& bindings, const std::shared_ptr<Backlog>& backlog,
                       FenceWatch& watch);
  /// Throws npu::Error when the inference failed.
  void wait();
  guint64 submitted_ns() const { return time_.submitted_ns; }
  /// After wait().
  const InferenceTime& time() const { return time_; }

 private:
  void see_end() noexcept override;

  InferenceTime time_;
  std::shared_ptr<Backlog> backlog_;
  FenceWatch* watch_ = nullptr;
  std::exception_ptr error_;  // of the last inference
  npu::Request request_;
};

}  // namespace gstnpu
