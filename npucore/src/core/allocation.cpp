#include "core/allocation.hpp"

#include "base/log.hpp"
#include "base/text.hpp"
#include "core/device_state.hpp"
#include "npucore/error.hpp"

namespace npu::internal {
namespace {

/// Null where the new context has no room for it.
std::shared_ptr<Allocation> import_dmabuf_again(
    const Allocation& allocation, const std::shared_ptr<const ze::DeviceContext>& context) {
  try {
    return allocation.device->imports.import(allocation.device, context, allocation.fd.get());
  } catch (const Error& error) {
    if (error.code() != ErrorCode::kOutOfMemory) throw;
    base::log(LogLevel::kInfo,
              base::text("a DMA-BUF is copied by every inference: ", error.what()));
    return nullptr;
  }
}

std::shared_ptr<Allocation> import_again(const Allocation& allocation,
                                         const std::shared_ptr<const ze::DeviceContext>& context) {
  ImportCache& imports = allocation.device->imports;
  if (allocation.fd) return import_dmabuf_again(allocation, context);
  if (allocation.origin != Allocation::Origin::kHost) return nullptr;
  std::string why_not;
  auto imported =
      imports.import_host(allocation.device, context, {allocation.base(), allocation.size_bytes},
                          allocation.read_only, why_not);
  if (!imported) base::log(LogLevel::kInfo, "host memory is not imported again: " + why_not);
  return imported;
}

}  // namespace

std::shared_ptr<Allocation> reach_from(const std::shared_ptr<Allocation>& allocation,
                                       const std::shared_ptr<const ze::DeviceContext>& context) {
  if (allocation->context == context) return allocation;
  std::scoped_lock lock(allocation->successor_mutex);
  auto& successor = allocation->successor;
  if (!successor || successor->context != context) successor = import_again(*allocation, context);
  return successor;
}

std::shared_ptr<Allocation> allocate(const std::shared_ptr<DeviceState>& device,
                                     const std::shared_ptr<const ze::DeviceContext>& context,
                                     std::size_t size_bytes, ze::Memory::CpuCaching caching,
                                     bool exportable) {
  auto allocation = std::make_unique<Allocation>();
  allocation->device = device;
  allocation->context = context;
  allocation->memory = ze::Memory::allocate(*context, size_bytes, caching, exportable);
  allocation->size_bytes = size_bytes;
  allocation->exportable = exportable;
  return share(std::move(allocation));
}

}  // namespace npu::internal
