#pragma once

#include <cstdint>
#include <memory>
#include <mutex>

#include <npucore/properties.hpp>

#include "device/place.hpp"
#include "ze/graph.hpp"
#include "ze/queue.hpp"

namespace npu::internal {

/// What a compiled model has in one context. Members are in the order in which they must be made,
/// and unmade the other way round. Requests hold the session that their lists belong to.
struct Session {
  /// Makes the queue and creates the graph.
  Session(Place in_place, const Properties& properties, const ze::GraphSource& source);

  /// Loads the weights into the device, with the first call. Tells what that took in nanoseconds, 0
  /// where it was done before.
  std::uint64_t initialize();

  const Place place;
  ze::Queue queue;
  const ze::Graph graph;

 private:
  std::once_flag initialized_;
};

}  // namespace npu::internal
