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

/// Makes Queue::wait() wait for the execution's end.
inline constexpr std::uint64_t kNoTimeout = std::numeric_limits<std::uint64_t>::max();

/// The options a queue is made with; only the workload can change later.
struct QueueOptions {
  Priority priority = Priority::kMedium;
  bool turbo = false;  ///< left out, with a log message, if the driver lacks it
  /// Runs one submission after the other. If the device itself does that, turbo is left out.
  bool sequential = false;
  std::optional<WorkloadType> workload;
};

/// A command queue of one context, and its work in flight. Different threads may submit and wait at
/// once, each with its own submission.
class Queue {
 public:
  static constexpr std::uint32_t kPlaces = InFlight::kPlaces;

  Queue(const DeviceContext& device, const QueueOptions& options);

  const DeviceContext& device() const { return device_; }
  const CommandQueue& handle() const { return handle_; }
  /// Throws Error(kUnsupported) if the driver has no workload types.
  void set_workload(WorkloadType type) const;
  /// Whether each submission needs a new recording, with the events that order it.
  bool is_chained() const { return chain_ != nullptr; }

  /// Waits until the oldest submissions have ended if no place is free. Hold no lock that others
  /// need to end or to make something.
  void take_places(Submission& submission);
  /// Undoes take_places() for a submission that failed.
  void give_back_places(Submission& submission) { in_flight_.leave(submission); }
  /// Executes the recording. The submission holds its places, and keeps them if this throws.
  void submit(Recording& recording, Submission& submission);
  /// False when `timeout_ns` passed first. Throws if the execution failed. Otherwise the execution
  /// is over, and the submission may be used again.
  bool wait(Submission& submission, std::uint64_t timeout_ns);

 private:
  void execute(Recording& recording, Submission& submission);
  void wait_out(Submission& submission) const;
  [[noreturn]] void fail(const Submission& submission, ze_result_t result, const char* call) const;

  const DeviceContext& device_;
  const CommandQueue handle_;
  std::unique_ptr<Chain> chain_;  ///< only if submissions wait for each other's events
  InFlight in_flight_;
};

}  // namespace npu::ze
