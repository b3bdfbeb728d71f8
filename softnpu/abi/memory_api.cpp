// zeMem*.
#include <bit>

#include <ze_npu/ze_npu.h>

#include "base/config.hpp"
#include "base/trace.hpp"
#include "machine/context.hpp"
#include "machine/device.hpp"
#include "machine/in_use.hpp"

#include "api.hpp"
#include "handles.hpp"

namespace softnpu {
namespace {

constexpr auto kStypeSystemMemory =
    static_cast<ze_structure_type_t>(kZeNpuCoreStypeExternalMemmapSysmemExtDesc);
// Before Level Zero had a flag for memory that the device only reads, Intel's driver used another.
constexpr ze_host_mem_alloc_flags_t kReadOnly =
    kZeNpuCoreHostMemAllocFlagMemReadOnly | ZE_HOST_MEM_ALLOC_FLAG_BIAS_WRITE_COMBINED;

struct Chained {
  ze_structure_type_t stype;
  const void* pNext;
};

void check_size(size_t size_bytes, size_t alignment, void** pointer) {
  require(pointer != nullptr, ZE_RESULT_ERROR_INVALID_NULL_POINTER);
  require(size_bytes != 0, ZE_RESULT_ERROR_UNSUPPORTED_SIZE);
  require((alignment & (alignment - 1)) == 0, ZE_RESULT_ERROR_UNSUPPORTED_ALIGNMENT);
}

void* hand_out_memory(Context& context, Allocation::Parts parts) {
  const auto allocation = context.allocations().insert(std::move(parts));
  trace::note_pointer("allocated", allocation->base());
  trace::note("bytes", allocation->size_bytes());
  if (allocation->inode() != 0) {
    trace::note("inode", allocation->inode());
  }
  return allocation->base();
}

void* import_descriptor(Context& context, const ze_external_memory_import_fd_t& desc,
                        ze_memory_type_t type) {
  require(desc.flags == ZE_EXTERNAL_MEMORY_TYPE_FLAG_DMA_BUF, ZE_RESULT_ERROR_INVALID_ENUMERATION);
  return hand_out_memory(context, import(context.allocations(), desc.fd, type));
}

// Like Intel's driver, looks at the first chained structure only.
void allocate_memory(ze_context_handle_t handle, const void* chain, size_t size_bytes,
                     size_t alignment, ze_memory_type_t type, void** pointer) {
  auto& context = object_of<Context>(handle);
  const auto* const first = static_cast<const Chained*>(chain);
  bool exportable = false;
  if (first != nullptr && first->stype == ZE_STRUCTURE_TYPE_EXTERNAL_MEMORY_IMPORT_FD) {
    require(pointer != nullptr, ZE_RESULT_ERROR_INVALID_NULL_POINTER);
    *pointer = import_descriptor(context,
                                 *static_cast<const ze_external_memory_import_fd_t*>(chain), type);
    return;
  }
  if (first != nullptr && first->stype == ZE_STRUCTURE_TYPE_EXTERNAL_MEMORY_EXPORT_DESC) {
    const auto& desc = *static_cast<const ze_external_memory_export_desc_t*>(chain);
    require(desc.flags == ZE_EXTERNAL_MEMORY_TYPE_FLAG_DMA_BUF,
            ZE_RESULT_ERROR_INVALID_ENUMERATION);
    require(config().exports != Export::kNone, ZE_RESULT_ERROR_UNSUPPORTED_FEATURE);
    exportable = true;
  }
  check_size(size_bytes, alignment, pointer);
  *pointer = hand_out_memory(context, allocate(size_bytes, type, exportable));
}

// Imports the application's pages, at their own address.
void import_system_memory(ze_context_handle_t handle, const ze_host_mem_alloc_desc_t& desc,
                          void** pointer) {
  auto& context = object_of<Context>(handle);
  const auto& range =
      *static_cast<const ze_npu_core_external_memmap_sysmem_ext_desc_t*>(desc.pNext);
  require(range.pSystemMemory != nullptr && pointer != nullptr,
          ZE_RESULT_ERROR_INVALID_NULL_POINTER);
  require(range.size != 0, ZE_RESULT_ERROR_UNSUPPORTED_SIZE);
  require(imports_system_memory(), ZE_RESULT_ERROR_UNSUPPORTED_FEATURE);
  const bool read_only = (desc.flags & kReadOnly) != 0;
  hand_out_memory(context,
                  borrow(context.allocations(), range.pSystemMemory, range.size, read_only));
  *pointer = range.pSystemMemory;
}

// The kernel refuses uncached memory.
void check_host_flags(const ze_host_mem_alloc_desc_t& desc) {
  require((desc.flags & ZE_HOST_MEM_ALLOC_FLAG_BIAS_UNCACHED) == 0,
          ZE_RESULT_ERROR_OUT_OF_DEVICE_MEMORY);
}

void export_to(const Allocation& allocation, void* chain) {
  if (chain == nullptr ||
      static_cast<const Chained*>(chain)->stype != ZE_STRUCTURE_TYPE_EXTERNAL_MEMORY_EXPORT_FD) {
    return;
  }
  auto& desc = *static_cast<ze_external_memory_export_fd_t*>(chain);
  require(desc.flags == ZE_EXTERNAL_MEMORY_TYPE_FLAG_DMA_BUF, ZE_RESULT_ERROR_INVALID_ENUMERATION);
  UniqueFd fd = allocation.export_fd();
  require(static_cast<bool>(fd), ZE_RESULT_ERROR_NOT_AVAILABLE);
  trace::note("exported_fd", static_cast<uint64_t>(fd.get()));
  trace::note_file("file", fd.get());
  desc.fd = fd.release();
}

}  // namespace

ze_result_t mem_alloc_shared(ze_context_handle_t context, const ze_device_mem_alloc_desc_t* device,
                             const ze_host_mem_alloc_desc_t* host, size_t size, size_t alignment,
                             ze_device_handle_t, void** pointer) {
  object_of<Context>(context);
  require(device != nullptr && host != nullptr, ZE_RESULT_ERROR_INVALID_NULL_POINTER);
  check_host_flags(*host);
  const void* const chain = device->pNext != nullptr ? device->pNext : host->pNext;
  allocate_memory(context, chain, size, alignment, ZE_MEMORY_TYPE_SHARED, pointer);
  return ZE_RESULT_SUCCESS;
}

ze_result_t mem_alloc_device(ze_context_handle_t context, const ze_device_mem_alloc_desc_t* desc,
                             size_t size, size_t alignment, ze_device_handle_t device,
                             void** pointer) {
  object_of<Context>(context);
  check_device(device);
  require(desc != nullptr, ZE_RESULT_ERROR_INVALID_NULL_POINTER);
  allocate_memory(context, desc->pNext, size, alignment, ZE_MEMORY_TYPE_DEVICE, pointer);
  return ZE_RESULT_SUCCESS;
}

ze_result_t mem_alloc_host(ze_context_handle_t context, const ze_host_mem_alloc_desc_t* desc,
                           size_t size, size_t alignment, void** pointer) {
  object_of<Context>(context);
  require(desc != nullptr, ZE_RESULT_ERROR_INVALID_NULL_POINTER);
  check_host_flags(*desc);
  const auto* const first = static_cast<const Chained*>(desc->pNext);
  if (first != nullptr && first->stype == kStypeSystemMemory) {
    import_system_memory(context, *desc, pointer);
  } else {
    allocate_memory(context, desc->pNext, size, alignment, ZE_MEMORY_TYPE_HOST, pointer);
  }
  return ZE_RESULT_SUCCESS;
}

ze_result_t mem_free(ze_context_handle_t context, void* pointer) {
  auto& allocations = object_of<Context>(context).allocations();
  const auto memory = allocations.find(pointer);
  require(allocations.remove(pointer), ZE_RESULT_ERROR_INVALID_ARGUMENT);
  check_memory_not_in_use(*memory);
  return ZE_RESULT_SUCCESS;
}

// Every policy of the description is met by a plain free, because commands share the ownership of
// their memory. Two policies ask to wait for the commands, or to free later.
ze_result_t mem_free_ext(ze_context_handle_t context, const ze_memory_free_ext_desc_t* desc,
                         void* pointer) {
  require(desc != nullptr, ZE_RESULT_ERROR_INVALID_NULL_POINTER);
  if (desc->freePolicy == 0) return mem_free(context, pointer);
  require(object_of<Context>(context).allocations().remove(pointer),
          ZE_RESULT_ERROR_INVALID_ARGUMENT);
  return ZE_RESULT_SUCCESS;
}

ze_result_t mem_get_alloc_properties(ze_context_handle_t context, const void* pointer,
                                     ze_memory_allocation_properties_t* properties,
                                     ze_device_handle_t* device) {
  auto& owner = object_of<Context>(context);
  require(pointer != nullptr && properties != nullptr, ZE_RESULT_ERROR_INVALID_NULL_POINTER);
  const auto allocation = owner.allocations().find(pointer);
  require(allocation != nullptr, ZE_RESULT_ERROR_NOT_AVAILABLE);
  properties->type = allocation->type();
  properties->id = allocation->id();
  properties->pageSize = kPageSize;
  if (device != nullptr) {
    *device = the_device();
  }
  export_to(*allocation, properties->pNext);
  return ZE_RESULT_SUCCESS;
}

ze_result_t mem_get_address_range(ze_context_handle_t context, const void* pointer, void** base,
                                  size_t* size) {
  auto& owner = object_of<Context>(context);
  require(pointer != nullptr, ZE_RESULT_ERROR_INVALID_NULL_POINTER);
  const auto allocation = owner.allocations().find(pointer);
  require(allocation != nullptr, ZE_RESULT_ERROR_NOT_AVAILABLE);
  // The device's address, not the CPU's, as Intel's driver gives it.
  if (base != nullptr) {
    *base = std::bit_cast<void*>(allocation->device_address());
  }
  if (size != nullptr) {
    *size = allocation->size_bytes();
  }
  return ZE_RESULT_SUCCESS;
}

}  // namespace softnpu
