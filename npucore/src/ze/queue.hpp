#pragma once

#include <cstdint>
#include <limits>
#include <memory>
#include <optional>

#include <npucore/properties.hpp>

#include "chain.hpp"
#include "in_flight.hpp"

namespace npu::ze {

class Recording;

/// For Queue::wait(): until the execution ends.
inline constexpr std::uint64_t kNoTimeout = std::numeric_limits<std::uint64_t>::max();

/// What a queue is made with; it cannot be changed later, but for the workload.
struct QueueOptions {
  Priority priority = Priority::kMedium;
  bool turbo = false;  ///< left out, with a log message, where the driver has no such option
  /// One submission after the other. Where the device itself sees to it, turbo is left out.
  bool sequential = false;
  std::optional<WorkloadType> workload;
};

/// A command queue of one context, and what is in flight there. Different threads may submit and
/// wait at once, each with its own submission.
class Queue {
 public:
  static constexpr std::uint32_t kPlaces = InFlight::kPlaces;

  Queue(const DeviceContext& device, const QueueOptions& options);

  const DeviceContext& device() const { return device_; }
  const CommandQueue& handle() const { return handle_; }
  /// Throws Error(kUnsupported) where the driver has no workload types.
  void set_workload(WorkloadType type) const;
  /// Whether recordings are made anew for each submission, with the events that order them.
  bool is_chained() const { return chain_ != nullptr; }

  /// When no place is free, waits until the oldest submissions have ended. With no lock held that
  /// others need for ending or making something.
  void take_places(Submission& submission);
  /// Of a submission that was not submitted after all.
  void give_back_places(Submission& submission) { in_flight_.leave(submission); }
  /// Executes the recording. The submission has its places, and keeps them if this throws.
  void submit(Recording& recording, Submission& submission);
  /// False when `timeout_ns` passed first. Throws when the execution failed. Unless it was false,
  /// the execution is over, and the submission may be used again.
  bool wait(Submission& submission, std::uint64_t timeout_ns);

 private:
  void execute(Recording& recording, Submission& submission);
  void wait_out(Submission& submission) const;
  [[noreturn]] void fail(const Submission& submission, ze_result_t result, const char* call) const;

  const DeviceContext& device_;
  const CommandQueue handle_;
  std::unique_ptr<Chain> chain_;  ///< only where submissions wait for each other's events
  InFlight in_flight_;
};

}  // namespace npu::ze
