#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include "core/in_flight.hpp"
#include "npucore/properties.hpp"
#include "ze/graph.hpp"

namespace npu::internal {

/// Submissions of a queue one after the other, where the device does not see to it: each waits for
/// the event of the one before.
class Chain {
 public:
  struct Link {
    ze_event_handle_t wait_for = nullptr;  ///< null for the first
    ze_event_handle_t signal = nullptr;
  };

  explicit Chain(const ze::DeviceContext& device);
  /// Held from next() to advance(), so that lists are submitted in the order of their links.
  std::mutex& mutex() { return mutex_; }
  /// Of the list that is `ahead` lists after the next one.
  Link link(std::uint32_t ahead);
  /// After the submission of so many lists.
  void advance(std::uint32_t lists) { submitted_ += lists; }

 private:
  // One more than there can be submissions in flight, and one that the oldest of them waits for.
  static constexpr std::uint32_t kEvents = InFlight::kPlaces + 2;

  const ze::DeviceContext& device_;
  std::mutex mutex_;  // guards submitted_ and the events
  ze::EventPool pool_;
  std::vector<ze::Event> events_;
  std::uint64_t submitted_ = 0;
};

/// What a compiled model has in one context. Members are in the order in which they must be made,
/// and unmade the other way round. Requests hold the session that their lists belong to.
struct Session {
  /// Makes the queue and creates the graph.
  Session(std::shared_ptr<const ze::DeviceContext> in_context, const Properties& properties,
          const ze::GraphSource& source);

  void set_workload(WorkloadType type) const;
  /// Loads the weights into the device, with the first call. Tells what that took in nanoseconds, 0
  /// where it was done before.
  std::uint64_t initialize();

  const std::shared_ptr<const ze::DeviceContext> context;
  const ze::CommandQueue queue;
  std::unique_ptr<Chain> chain;  ///< only where inferences run one after the other by events
  const ze::Graph graph;
  std::mutex arguments_mutex;  ///< guards the graph's argument values between setting and appending
  InFlight in_flight;

 private:
  std::once_flag initialized_;
};

}  // namespace npu::internal
