#pragma once

#include <cstdint>
#include <memory>
#include <mutex>

#include <npucore/properties.hpp>

#include "device/place.hpp"
#include "ze/graph.hpp"
#include "ze/queue.hpp"

namespace npu::internal {

/// A compiled model's objects in one context. The members are made in this order and destroyed in
/// reverse. Requests keep the session that their lists belong to.
struct Session {
  /// Makes the queue and creates the graph.
  Session(Place in_place, const Properties& properties, const ze::GraphSource& source);

  /// Loads the weights into the device with the first call. Returns the time it took in
  /// nanoseconds, 0 if they were loaded before.
  std::uint64_t initialize();

  const Place place;
  ze::Queue queue;
  const ze::Graph graph;

 private:
  std::once_flag initialized_;
};

}  // namespace npu::internal
