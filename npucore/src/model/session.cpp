#include "session.hpp"

#include <chrono>
#include <utility>

namespace npu::internal {
namespace {

ze::QueueOptions queue_options(const Properties& properties) {
  ze::QueueOptions options;
  options.priority = properties.get(property::priority);
  options.turbo = properties.get(property::turbo);
  options.sequential = properties.get(property::run_sequentially);
  if (properties.is_set(property::workload_type)) {
    options.workload = properties.get(property::workload_type);
  }
  return options;
}

}  // namespace

Session::Session(Place in_place, const Properties& properties, const ze::GraphSource& source)
    : place(std::move(in_place)),
      queue(*place.context, queue_options(properties)),
      graph(*place.context, source) {}

std::uint64_t Session::initialize() {
  std::uint64_t took_ns = 0;
  std::call_once(initialized_, [&] {
    const auto start = std::chrono::steady_clock::now();
    graph.initialize(queue.handle());
    took_ns = static_cast<std::uint64_t>(
        std::chrono::nanoseconds(std::chrono::steady_clock::now() - start).count());
  });
  return took_ns;
}

}  // namespace npu::internal
