#include <algorithm>
#include <array>
#include <utility>

#include <npucore/device.hpp>

#include "base/api.hpp"
#include "base/enum_names.hpp"
#include "base/exit_watch.hpp"
#include "properties/property_values.hpp"
#include "ze/device_queries.hpp"

#include "choose_device.hpp"
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

DeviceKind kind_named(const std::string& name) try {
  return device_kind_from_string(name);
} catch (const Error& error) {
  throw Error(error.code(), base::text(error.what(), ", or the PCI address or UUID of an NPU"));
}

/// Runs the work of a call on an opened device.
template <class Work>
decltype(auto) with(const std::shared_ptr<Device::Impl>& impl, const Work& work) {
  return base::only_errors([&]() -> decltype(auto) { return work(base::live(impl, "Device")); });
}

}  // namespace

const char* to_string(DeviceKind kind) {
  return base::name_of(kKinds, kind);
}

DeviceKind device_kind_from_string(const std::string& name) {
  std::string lower = name;  // OpenVINO's names are in capitals
  std::transform(lower.begin(), lower.end(), lower.begin(),
                 [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; });
  if (lower == "cpu" || lower == "gpu") {
    throw Error(ErrorCode::kInvalidArgument,
                base::text(base::quoted(name),
                           " is not a device of npucore, which runs models on NPUs: use auto, npu, "
                           "or software, which runs them on the CPU"));
  }
  return base::value_of(kKinds, lower, "device");
}

Device Device::open(DeviceKind kind) {
  return base::only_errors([&] {
    base::watch_exit();
    return Device(internal::Runtime::instance().open(kind));
  });
}

Device Device::open(const std::string& name) {
  return base::only_errors([&] {
    if (!internal::is_address(name)) return open(kind_named(name));
    base::watch_exit();
    return Device(internal::Runtime::instance().open(name));
  });
}

std::vector<DeviceInfo> Device::list() {
  return base::only_errors([] {
    base::watch_exit();
    return internal::Runtime::instance().list();
  });
}

const DeviceInfo& Device::info() const {
  return base::live(impl_, "Device").info;
}

DeviceMemory Device::memory() const {
  return with(impl_, [](Impl& impl) -> DeviceMemory {
    const ze::MemoryUse use = ze::query_memory(*impl.context());
    return {use.total_bytes, use.allocated_bytes};
  });
}

std::string Device::get_property(const std::string& name) const {
  return with(impl_, [&](const Impl& impl) { return internal::device_property(impl, name); });
}

std::string Device::get_property(const std::string& name, const std::string& requirements) const {
  return with(impl_, [&](const Impl& impl) {
    return internal::compatibility_property(impl, name, requirements);
  });
}

void Device::set_property(const std::string& name, const std::string& value) {
  with(impl_, [&](Impl& impl) { internal::set_device_property(impl, name, value); });
}

void Device::set_property(Property<bool> property, const char* value) {
  base::only_errors([&] { set_property(property.name, std::string(value)); });
}

template <class T>
T Device::get_property(Property<T> property) const {
  return base::only_errors(
      [&] { return internal::property_value<T>(get_property(std::string(property))); });
}

template <class T>
void Device::set_property(Property<T> property, const std::type_identity_t<T>& value) {
  base::only_errors([&] { set_property(property.name, internal::property_text(value)); });
}

#define INSTANTIATE(T)                                \
  template T Device::get_property(Property<T>) const; \
  template void Device::set_property(Property<T>, const T&);
NPU_FOR_PROPERTY_TYPES(INSTANTIATE)
#undef INSTANTIATE

Properties Device::properties() const {
  return with(impl_, [](const Impl& impl) { return impl.properties.values(); });
}

double Device::utilization() const {
  return with(impl_, [](Impl& impl) { return impl.utilization(); });
}

void* Device::native_context() const {
  return with(impl_, [](Impl& impl) { return impl.context()->context.get(); });
}

std::vector<Finding> diagnose() {
  return base::only_errors([] { return internal::Runtime::instance().diagnose(); });
}

}  // namespace npu
