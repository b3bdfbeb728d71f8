#include "chain.hpp"

namespace npu::ze {
namespace {

EventPool make_pool(const DeviceContext& device, std::uint32_t count) {
  ze_event_pool_desc_t desc = {};
  desc.stype = ZE_STRUCTURE_TYPE_EVENT_POOL_DESC;
  desc.flags = ZE_EVENT_POOL_FLAG_HOST_VISIBLE;
  desc.count = count;
  ze_device_handle_t npu = device.npu.device;
  ze_event_pool_handle_t handle = nullptr;
  device.check(device.loader.zeEventPoolCreate(device.context.get(), &desc, 1, &npu, &handle),
               "zeEventPoolCreate");
  return {device.loader, handle};
}

Event make_event(const DeviceContext& device, const EventPool& pool, std::uint32_t index) {
  ze_event_desc_t desc = {};
  desc.stype = ZE_STRUCTURE_TYPE_EVENT_DESC;
  desc.index = index;
  desc.signal = ZE_EVENT_SCOPE_FLAG_HOST;
  ze_event_handle_t handle = nullptr;
  device.check(device.loader.zeEventCreate(pool.get(), &desc, &handle), "zeEventCreate");
  return {device.loader, handle};
}

/// One event more than lists can be in flight, and one that the oldest of them waits for.
constexpr std::uint32_t kSpareEvents = 2;

}  // namespace

Chain::Chain(const DeviceContext& device, std::uint32_t places)
    : device_(device), pool_(make_pool(device, places + kSpareEvents)) {
  for (std::uint32_t index = 0; index < places + kSpareEvents; ++index) {
    events_.push_back(make_event(device, pool_, index));
  }
}

Chain::Link Chain::link(std::uint32_t ahead) {
  const std::uint64_t number = submitted_ + ahead;
  const ze_event_handle_t signal = events_[number % events_.size()].get();
  // The list that waited for this event has ended: there are more events than places.
  device_.check(device_.loader.zeEventHostReset(signal), "zeEventHostReset");
  if (number == 0) return {nullptr, signal};
  return {events_[(number - 1) % events_.size()].get(), signal};
}

}  // namespace npu::ze
