#include "buffers.hpp"

#include <npucore/error.hpp>

#include "base/api.hpp"
#include "base/log.hpp"
#include "base/text.hpp"
#include "device/device_impl.hpp"

namespace npu::internal {
namespace {

/// Null if the new context has no room for it.
std::shared_ptr<Allocation> import_dmabuf_again(const Allocation& allocation, const Place& place) {
  try {
    return buffers_of(place.device).imports.import(place, allocation.fd.get());
  } catch (const Error& error) {
    if (error.code() != ErrorCode::kOutOfMemory) throw;
    base::log(LogLevel::kInfo, base::text("every inference copies a DMA-BUF: ", error.what()));
    return nullptr;
  }
}

std::shared_ptr<Allocation> import_again(const Allocation& allocation, const Place& place) {
  if (allocation.fd) return import_dmabuf_again(allocation, place);
  if (allocation.origin != Allocation::Origin::kHost) return nullptr;
  std::string why_not;
  auto imported = buffers_of(place.device)
                      .imports.import_host(place, {allocation.base(), allocation.size_bytes},
                                           allocation.read_only, why_not, allocation.file);
  if (!imported) {
    base::log(LogLevel::kInfo, "host memory is not imported again: " + why_not);
  }
  return imported;
}

}  // namespace

std::shared_ptr<Buffers> make_buffers() {
  return std::make_shared<Buffers>();
}

Buffers& buffers_of(const std::shared_ptr<Device::Impl>& device) {
  return *device->buffers;
}

std::shared_ptr<Allocation> reach_from(const std::shared_ptr<Allocation>& allocation,
                                       const Place& place) {
  if (allocation->place == place) return allocation;
  const base::LogsAfterwards logs;
  std::scoped_lock lock(allocation->successor_mutex);
  auto& successor = allocation->successor;
  if (!successor || successor->place != place) {
    successor = import_again(*allocation, place);
  }
  return successor;
}

}  // namespace npu::internal

namespace npu {

DmabufSource Device::shareable_memory() const try {
  return base::live(impl_, "Device").buffers->sources.best(impl_);
} catch (...) {
  base::rethrow_as_error();
}

std::vector<Finding> Device::dmabuf_sources() const try {
  return base::live(impl_, "Device").buffers->sources.findings(impl_);
} catch (...) {
  base::rethrow_as_error();
}

}  // namespace npu
