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

/// By the steady clock.
guint64 now_ns();

struct InferenceTime {
  guint64 submitted_ns = 0;
  guint64 done_ns = 0;    ///< when its fence was seen
  guint64 device_ns = 0;  ///< the part of it in which no earlier inference of the stream ran
  guint64 elapsed_ns() const { return done_ns - submitted_ns; }
};

/// What a stream has given to the device that is not done, and how long the device takes. From any
/// thread.
class Backlog {
 public:
  /// `device`: that of all streams which share one; null where this stream has the device alone.
  /// `turns`: whom to tell of each inference that ends; may be null.
  explicit Backlog(std::shared_ptr<Backlog> device = nullptr,
                   std::shared_ptr<Turns> turns = nullptr)
      : device_(std::move(device)), turns_(std::move(turns)) {}

  /// Before the first: `told` is called after each that ends.
  void tell_ends(std::function<void()> told) { told_ = std::move(told); }

  void add(guint64 now_ns);
  /// What add() counted was not submitted. The turn for it stays with whoever has it.
  void take_back();
  /// Fills in `time.device_ns`. What failed tells nothing of the device's pace.
  void end(InferenceTime& time, bool failed);

  /// Of this stream.
  guint unfinished() const;
  /// How long one that is submitted at `now_ns` would take, by those before; 0 when there were
  /// none of late.
  guint64 expected_ns(guint64 now_ns) const;
  /// What the last ones took on the device, smoothed.
  guint64 device_ns() const;

 private:
  bool is_stale(guint64 now_ns) const;
  void note_end(InferenceTime& time, bool failed);

  const std::shared_ptr<Backlog> device_;
  const std::shared_ptr<Turns> turns_;
  std::function<void()> told_;
  mutable std::mutex mutex_;  // guards all below
  guint unfinished_ = 0;
  guint64 idle_until_ns_ = 0;  // when the oldest unfinished one came to the device
  guint64 device_ns_ = 0;
};

/// A request that notes when its inference ended, whoever waits for it how late.
class TimedRequest final : public Watched {
 public:
  explicit TimedRequest(npu::Request request) : request_(std::move(request)) {}
  TimedRequest(const TimedRequest&) = delete;
  TimedRequest& operator=(const TimedRequest&) = delete;

  /// `watch` outlives the inference, which must be waited for.
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
