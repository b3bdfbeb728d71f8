#include "core/session.hpp"

#include <chrono>
#include <utility>

#include "ze/device_queries.hpp"
#include "ze/result.hpp"

namespace npu::internal {
namespace {

ze_command_queue_priority_t queue_priority(Priority priority) {
  switch (priority) {
    case Priority::kLow:
      return ZE_COMMAND_QUEUE_PRIORITY_PRIORITY_LOW;
    case Priority::kHigh:
      return ZE_COMMAND_QUEUE_PRIORITY_PRIORITY_HIGH;
    case Priority::kMedium:
      break;
  }
  return ZE_COMMAND_QUEUE_PRIORITY_NORMAL;
}

ze::CommandQueue make_queue(const ze::DeviceContext& device, const Properties& properties) {
  const bool one_by_one = properties.get(property::run_sequentially);
  return ze::make_queue(
      device, {queue_priority(properties.get(property::priority)), properties.get(property::turbo),
               one_by_one && ze::has_device_sync(device)});
}

}  // namespace

Chain::Chain(const ze::DeviceContext& device)
    : device_(device), pool_(ze::make_event_pool(device, kEvents)) {
  for (std::uint32_t index = 0; index < kEvents; ++index)
    events_.push_back(ze::make_event(device, pool_, index));
}

Chain::Link Chain::link(std::uint32_t ahead) {
  const std::uint64_t number = submitted_ + ahead;
  const ze_event_handle_t signal = events_[number % kEvents].get();
  // Whoever waited for its last use has ended: there are more events than places.
  ze::check(device_.loader.zeEventHostReset(signal), "zeEventHostReset");
  if (number == 0) return {nullptr, signal};
  return {events_[(number - 1) % kEvents].get(), signal};
}

Session::Session(std::shared_ptr<const ze::DeviceContext> in_context, const Properties& properties,
                 const ze::GraphSource& source)
    : context(std::move(in_context)),
      queue(make_queue(*context, properties)),
      graph(*context, source),
      in_flight(*context) {
  if (properties.is_set(property::workload_type))
    set_workload(properties.get(property::workload_type));
  if (properties.get(property::run_sequentially) && !ze::has_device_sync(*context))
    chain = std::make_unique<Chain>(*context);
}

void Session::set_workload(WorkloadType type) const {
  ze::set_workload_type(
      *context, queue,
      type == WorkloadType::kEfficient ? ZE_WORKLOAD_TYPE_BACKGROUND : ZE_WORKLOAD_TYPE_DEFAULT);
}

std::uint64_t Session::initialize() {
  std::uint64_t took_ns = 0;
  std::call_once(initialized_, [&] {
    const auto start = std::chrono::steady_clock::now();
    graph.initialize(queue);
    took_ns = static_cast<std::uint64_t>(
        std::chrono::nanoseconds(std::chrono::steady_clock::now() - start).count());
  });
  return took_ns;
}

}  // namespace npu::internal
