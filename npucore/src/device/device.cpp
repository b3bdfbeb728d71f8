#include <array>
#include <utility>

#include <npucore/device.hpp>

#include "base/enum_names.hpp"
#include "base/exit_watch.hpp"
#include "properties/property_values.hpp"
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
  base::watch_exit();
  return Device(internal::Runtime::instance().open(kind));
}

const DeviceInfo& Device::info() const {
  return impl_->info;
}

DeviceMemory Device::memory() const {
  const ze::MemoryUse use = ze::query_memory(*impl_->context());
  return {use.total_bytes, use.allocated_bytes};
}

std::string Device::get_property(const std::string& name) const {
  return internal::device_property(*impl_, name);
}

void Device::set_property(const std::string& name, const std::string& value) {
  internal::set_device_property(*impl_, name, value);
}

template <class T>
T Device::get_property(Property<T> property) const {
  return internal::property_value<T>(get_property(std::string(property)));
}

template <class T>
void Device::set_property(Property<T> property, const std::type_identity_t<T>& value) {
  set_property(property.name, internal::property_text(value));
}

#define INSTANTIATE(T)                                \
  template T Device::get_property(Property<T>) const; \
  template void Device::set_property(Property<T>, const T&);
NPU_FOR_PROPERTY_TYPES(INSTANTIATE)
#undef INSTANTIATE

Properties Device::properties() const {
  return impl_->properties.values();
}

double Device::utilization() const {
  return impl_->utilization();
}

void* Device::native_context() const {
  return impl_->context()->context.get();
}

std::vector<Finding> diagnose() {
  return internal::Runtime::instance().diagnose();
}

}  // namespace npu
