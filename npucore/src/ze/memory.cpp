#include "memory.hpp"

#include "base/forked.hpp"
#include "base/mapped_file.hpp"
#include "base/text.hpp"

#include "result.hpp"

namespace npu::ze {
namespace {

ze_result_t allocate_host(const DeviceContext& device, ze_host_mem_alloc_flags_t flags,
                          const void* next, std::size_t size_bytes, void** address) {
  ze_host_mem_alloc_desc_t desc = {};
  desc.stype = ZE_STRUCTURE_TYPE_HOST_MEM_ALLOC_DESC;
  desc.pNext = next;
  desc.flags = flags;
  return device.loader.zeMemAllocHost(device.context.get(), &desc, size_bytes,
                                      base::page_size_bytes(), address);
}

}  // namespace

Memory Memory::allocate(const DeviceContext& device, std::size_t size_bytes, CpuCaching caching,
                        bool exportable) {
  ze_external_memory_export_desc_t export_desc = {};
  export_desc.stype = ZE_STRUCTURE_TYPE_EXTERNAL_MEMORY_EXPORT_DESC;
  export_desc.flags = ZE_EXTERNAL_MEMORY_TYPE_FLAG_DMA_BUF;
  const ze_host_mem_alloc_flags_t flags =
      caching == CpuCaching::kWriteCombined ? ZE_HOST_MEM_ALLOC_FLAG_BIAS_WRITE_COMBINED : 0;
  void* address = nullptr;
  const ze_result_t result =
      allocate_host(device, flags, exportable ? &export_desc : nullptr, size_bytes, &address);
  if (result != ZE_RESULT_SUCCESS) {
    throw make_error(device.judge(result), result, "zeMemAllocHost",
                     base::text("allocating ", size_bytes, exportable ? " exportable" : "",
                                " bytes on ", device.npu.name()));
  }
  return {device, address, size_bytes};
}

Memory Memory::import_dmabuf(const DeviceContext& device, int fd, std::size_t size_bytes) {
  ze_external_memory_import_fd_t import_desc = {};
  import_desc.stype = ZE_STRUCTURE_TYPE_EXTERNAL_MEMORY_IMPORT_FD;
  import_desc.flags = ZE_EXTERNAL_MEMORY_TYPE_FLAG_DMA_BUF;
  import_desc.fd = fd;
  void* address = nullptr;
  const ze_result_t result = allocate_host(device, 0, &import_desc, size_bytes, &address);
  if (result != ZE_RESULT_SUCCESS) {
    throw make_error(
        device.judge(result), result, "zeMemAllocHost",
        base::text("importing the DMA-BUF of fd ", fd, " (", size_bytes, " bytes) into ",
                   device.npu.name(),
                   "; its exporter must let the CPU map it, and the NPU's address range must have "
                   "room for it"));
  }
  return {device, address, size_bytes};
}

Memory Memory::import_host(const DeviceContext& device, void* pages, std::size_t size_bytes,
                           bool read_only) {
  ze_npu_core_external_memmap_sysmem_ext_desc_t import_desc = {};
  import_desc.stype = kZeNpuCoreStypeExternalMemmapSysmemExtDesc;
  import_desc.pSystemMemory = pages;
  import_desc.size = size_bytes;
  // NPU drivers read this flag as "the device only reads"; memory that it writes must not have it.
  const ze_host_mem_alloc_flags_t flags =
      read_only ? ZE_HOST_MEM_ALLOC_FLAG_BIAS_WRITE_COMBINED : 0;
  void* address = nullptr;
  const ze_result_t result = allocate_host(device, flags, &import_desc, size_bytes, &address);
  if (result != ZE_RESULT_SUCCESS) {
    throw make_error(
        device.judge(result), result, "zeMemAllocHost",
        base::text("importing ", size_bytes, " bytes of host memory into ", device.npu.name()));
  }
  return {device, address, size_bytes};
}

Memory::~Memory() {
  if (!address_ || base::is_forked_child()) return;
  device_->memory_users.forget({static_cast<const std::byte*>(address_), size_bytes_});
  static_cast<void>(device_->loader.zeMemFree(device_->context.get(), address_));
}

int Memory::export_dmabuf() const {
  ze_external_memory_export_fd_t export_fd = {};
  export_fd.stype = ZE_STRUCTURE_TYPE_EXTERNAL_MEMORY_EXPORT_FD;
  export_fd.flags = ZE_EXTERNAL_MEMORY_TYPE_FLAG_DMA_BUF;
  export_fd.fd = -1;
  ze_memory_allocation_properties_t properties = {};
  properties.stype = ZE_STRUCTURE_TYPE_MEMORY_ALLOCATION_PROPERTIES;
  properties.pNext = &export_fd;
  device_->check(device_->loader.zeMemGetAllocProperties(device_->context.get(), address_,
                                                         &properties, nullptr),
                 "zeMemGetAllocProperties", "exporting an allocation as a DMA-BUF");
  if (export_fd.fd < 0) {
    throw Error(ErrorCode::kInternal,
                "zeMemGetAllocProperties gave no file descriptor for an exportable allocation");
  }
  return export_fd.fd;
}

}  // namespace npu::ze
