#include <array>
#include <utility>

#include <npucore/device.hpp>

#include "base/enum_names.hpp"
#include "base/exit_watch.hpp"
#include "ze/device_queries.hpp"

#include "device_impl.hpp"
#include "device_properties.hpp"
#include "runtime.hpp"

namespace npu {
namespace {

using base::EnumName;

constexpr std::array kKinds = {
    EnumName<DeviceKind>{DeviceKind::kAuto, "auto"},
    EnumName<DeviceKind>{DeviceKind::kNpu, "npu"},
    EnumName<DeviceKind>{DeviceKind::kSoftware, "software"},
};

}  // namespace

const char* to_string(DeviceKind kind) {
  return base::name_of(kKinds, kind);
}

DeviceKind device_kind_from_string(const std::string& name) {
  return base::value_of(kKinds, name, "device");
}

Device Device::open(DeviceKind kind) {
  internal::watch_exit();
  return Device(internal::Runtime::instance().open(kind));
}

Device::Device(std::shared_ptr<internal::DeviceState> state) : state_(std::move(state)) {}
Device::~Device() = default;
Device::Device(const Device&) = default;
Device::Device(Device&&) noexcept = default;
Device& Device::operator=(const Device&) = default;
Device& Device::operator=(Device&&) noexcept = default;

const DeviceInfo& Device::info() const {
  return state_->info;
}

DeviceMemory Device::memory() const {
  const ze::MemoryUse use = ze::query_memory(*state_->context());
  return {use.total_bytes, use.allocated_bytes};
}

std::string Device::get_property(const std::string& name) const {
  return internal::device_property(*state_, name);
}

void Device::set_property(const std::string& name, const std::string& value) {
  internal::set_device_property(*state_, name, value);
}

Properties Device::properties() const {
  return state_->properties.values();
}

double Device::utilization() const {
  return state_->utilization();
}

void* Device::native_context() const {
  return state_->context()->context.get();
}

std::vector<Finding> diagnose() {
  return internal::Runtime::instance().diagnose();
}

}  // namespace npu
