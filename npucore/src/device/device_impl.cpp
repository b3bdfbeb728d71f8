#include "device_impl.hpp"

#include <algorithm>
#include <utility>

#include <npucore/error.hpp>

#include "base/forked.hpp"
#include "base/pimpl.hpp"
#include "base/text.hpp"
#include "ze/device_queries.hpp"

namespace npu {
namespace {

DeviceInfo info_in(const ze::DeviceContext& ze) {
  DeviceInfo info = internal::info_of(ze.npu);
  info.memory_bytes = ze::memory_bytes(ze);
  return info;
}

}  // namespace

Device::Impl::Impl(const ze::NpuDevice& npu)
    : context_(std::make_shared<const ze::DeviceContext>(npu)),
      info(info_in(*context_)),
      imports_memfd(npu.imports_memfd()),
      buffers(internal::make_buffers()) {}

std::shared_ptr<const ze::DeviceContext> Device::Impl::context() const {
  base::refuse_after_fork();
  std::scoped_lock lock(mutex_);
  return current();
}

/// Call it with the mutex held.
const std::shared_ptr<const ze::DeviceContext>& Device::Impl::current() const {
  if (context_->lost) {
    auto made = std::make_shared<const ze::DeviceContext>(context_->npu);
    if (idle_pruning_) {
      ze::set_idle_pruning(*made, *idle_pruning_);
    }
    context_ = std::move(made);
  }
  return context_;
}

void Device::Impl::set_idle_pruning(bool on) {
  std::scoped_lock lock(mutex_);
  ze::set_idle_pruning(*current(), on);
  idle_pruning_ = on;
}

double Device::Impl::utilization() {
  const auto now = ze::engine_activity(*context());
  if (!now) {
    throw Error(ErrorCode::kUnsupported,
                base::text("neither loader ", info.loader_version, " nor the driver of ", info.name,
                           " reports how busy it is (", ze::kActivityCalls, ")"));
  }
  std::scoped_lock lock(mutex_);
  const auto last = std::exchange(last_activity_, now);
  if (!last || now->at_us <= last->at_us) return 0;
  const auto busy = static_cast<double>(now->busy_us - last->busy_us);
  return std::clamp(busy / static_cast<double>(now->at_us - last->at_us), 0.0, 1.0);
}

DeviceInfo internal::info_of(const ze::NpuDevice& npu) {
  const ze::GraphTable graph = ze::graph_table_of(npu);
  const ze::GraphCapabilities capabilities = ze::graph_capabilities(npu, graph);
  DeviceInfo info;
  info.name = npu.name();
  info.is_software = npu.is_software();
  info.pci_device_id = npu.properties.deviceId;
  info.platform = npu.platform();
  info.pci_address = ze::pci_address(npu);
  info.uuid = ze::uuid(npu);
  info.tiles = npu.properties.numSlices;
  info.driver_version = npu.driver_version;
  info.driver_library = ze::driver_library(graph);
  info.loader_version = npu.loader->version();
  info.graph_extension = ze::version_of(graph.version());
  info.compiler = capabilities.compiler;
  info.newest_opset = capabilities.newest_opset;
  info.blob_elf = capabilities.elf;
  info.blob_runtime = capabilities.runtime;
  info.memory_bytes = npu.properties.maxMemAllocSize;
  info.extensions = npu.extension_lines();
  return info;
}

internal::Place internal::place_on(const std::shared_ptr<Device::Impl>& device) {
  return {device, device->context()};
}

internal::Place internal::place_on(const Device& device) {
  return place_on(Pimpl::live(device, "Device"));
}

}  // namespace npu
