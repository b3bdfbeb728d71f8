// zeDevice*.
#include <cstring>
#include <fstream>
#include <string>

#include "base/clock.hpp"
#include "base/config.hpp"
#include "machine/device.hpp"

#include "api.hpp"
#include "handles.hpp"

namespace softnpu {
namespace {

constexpr auto kDeviceTypeNpu = static_cast<ze_device_type_t>(5);  // ZE_DEVICE_TYPE_VPU
constexpr uint32_t kCoreClockMHz = 1000;
constexpr uint64_t kTimerResolutionNs = 52;
constexpr uint64_t kTimerFrequencyHz = 19'200'000;

std::string processor_name() {
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line);) {
    const size_t colon = line.find(": ");
    if (line.rfind("model name", 0) == 0 && colon != std::string::npos) {
      return line.substr(colon + 2);
    }
  }
  return "this CPU";
}

const std::string& device_name() {
  static const auto* const name =
      new std::string("Software NPU (" + std::to_string(config().platform->platform) + " on " +
                      processor_name() + ")");
  return *name;
}

void require_output(const void* pointer) {
  require(pointer != nullptr, ZE_RESULT_ERROR_INVALID_NULL_POINTER);
}

// Like Intel's driver: only the IP version and the changes a command list may have can be chained.
void fill_chain(void* chain) {
  if (chain == nullptr) return;
  auto& version = *static_cast<ze_npu_core_device_ip_version_ext_t*>(chain);
  if (version.stype == kZeNpuCoreStypeDeviceIpVersionExt) {
    version.ipVersion = config().platform->platform;
    return fill_chain(const_cast<void*>(version.pNext));
  }
  auto& changes = *static_cast<ze_npu_core_mutable_command_list_exp_properties_t*>(chain);
  require(changes.stype == kZeNpuCoreStypeMutableCommandListExpProperties,
          ZE_RESULT_ERROR_INVALID_ARGUMENT);
  changes.mutableCommandListFlags = 0;
  changes.mutableCommandFlags = kZeNpuCoreMutableCommandFlagGraphArguments;
  fill_chain(changes.pNext);
}

// The properties of version 1.2 give timer ticks per second, older ones nanoseconds per tick.
uint64_t timer_resolution(ze_structure_type_t stype) {
  return stype == ZE_STRUCTURE_TYPE_DEVICE_PROPERTIES_1_2 ? kTimerFrequencyHz : kTimerResolutionNs;
}

}  // namespace

ze_result_t device_get(ze_driver_handle_t driver, uint32_t* count, ze_device_handle_t* devices) {
  require(driver != nullptr, ZE_RESULT_ERROR_INVALID_NULL_HANDLE);
  require_output(count);
  *count = 1;
  if (devices != nullptr) {
    devices[0] = the_device();
  }
  return ZE_RESULT_SUCCESS;
}

ze_result_t device_get_sub_devices(ze_device_handle_t device, uint32_t* count,
                                   ze_device_handle_t*) {
  check_device(device);
  require_output(count);
  *count = 0;
  return ZE_RESULT_SUCCESS;
}

ze_result_t device_get_root_device(ze_device_handle_t device, ze_device_handle_t* root) {
  check_device(device);
  require_output(root);
  *root = nullptr;
  return ZE_RESULT_SUCCESS;
}

ze_result_t device_get_properties(ze_device_handle_t device, ze_device_properties_t* properties) {
  check_device(device);
  require_output(properties);
  fill_chain(properties->pNext);
  const ze_npu_platform_t& platform = *config().platform;
  properties->type = kDeviceTypeNpu;
  properties->vendorId = kZeNpuPciVendorId;
  properties->deviceId = platform.pciDeviceIds[0];
  properties->flags = ZE_DEVICE_PROPERTY_FLAG_INTEGRATED;
  properties->subdeviceId = 0;
  properties->coreClockRate = kCoreClockMHz;
  properties->maxMemAllocSize = system_memory_bytes();
  properties->maxHardwareContexts = 64;
  properties->maxCommandQueuePriority = 0;
  properties->numThreadsPerEU = 1;
  properties->physicalEUSimdWidth = 1;
  properties->numEUsPerSubslice = 1;
  properties->numSubslicesPerSlice = 1;
  properties->numSlices = platform.numTiles;
  properties->timerResolution = timer_resolution(properties->stype);
  properties->timestampValidBits = 64;
  properties->kernelTimestampValidBits = 64;
  properties->uuid = ze_intel_npu_device_uuid;
  std::memset(properties->name, 0, sizeof properties->name);
  device_name().copy(properties->name, sizeof properties->name - 1);
  return ZE_RESULT_SUCCESS;
}

ze_result_t device_get_compute_properties(ze_device_handle_t device,
                                          ze_device_compute_properties_t* properties) {
  check_device(device);
  require_output(properties);
  properties->maxTotalGroupSize = 1;
  properties->maxGroupSizeX = properties->maxGroupSizeY = properties->maxGroupSizeZ = 1;
  properties->maxGroupCountX = properties->maxGroupCountY = properties->maxGroupCountZ = 1;
  properties->maxSharedLocalMemory = 0;
  properties->numSubGroupSizes = 0;
  std::memset(properties->subGroupSizes, 0, sizeof properties->subGroupSizes);
  return ZE_RESULT_SUCCESS;
}

ze_result_t device_get_command_queue_group_properties(
    ze_device_handle_t device, uint32_t* count, ze_command_queue_group_properties_t* properties) {
  check_device(device);
  require_output(count);
  *count = 1;
  if (properties == nullptr) return ZE_RESULT_SUCCESS;
  properties->flags =
      ZE_COMMAND_QUEUE_GROUP_PROPERTY_FLAG_COMPUTE | ZE_COMMAND_QUEUE_GROUP_PROPERTY_FLAG_COPY;
  properties->maxMemoryFillPatternSize = 4;
  properties->numQueues = 1;
  return ZE_RESULT_SUCCESS;
}

ze_result_t device_get_memory_properties(ze_device_handle_t device, uint32_t* count,
                                         ze_device_memory_properties_t* properties) {
  check_device(device);
  require_output(count);
  *count = 1;
  if (properties == nullptr) return ZE_RESULT_SUCCESS;
  properties->flags = 0;
  properties->maxClockRate = 0;
  properties->maxBusWidth = 64;
  properties->totalSize = system_memory_bytes();
  std::memset(properties->name, 0, sizeof properties->name);
  std::strncpy(properties->name, "DDR", sizeof properties->name - 1);
  return ZE_RESULT_SUCCESS;
}

ze_result_t device_get_memory_access_properties(ze_device_handle_t device,
                                                ze_device_memory_access_properties_t* properties) {
  check_device(device);
  require_output(properties);
  constexpr ze_memory_access_cap_flags_t kAccess = ZE_MEMORY_ACCESS_CAP_FLAG_RW;
  properties->hostAllocCapabilities = kAccess;
  properties->deviceAllocCapabilities = kAccess;
  properties->sharedSingleDeviceAllocCapabilities = kAccess;
  properties->sharedCrossDeviceAllocCapabilities = 0;
  properties->sharedSystemAllocCapabilities = 0;
  return ZE_RESULT_SUCCESS;
}

ze_result_t device_get_image_properties(ze_device_handle_t device,
                                        ze_device_image_properties_t* properties) {
  check_device(device);
  require_output(properties);
  properties->maxImageDims1D = properties->maxImageDims2D = properties->maxImageDims3D = 0;
  properties->maxImageBufferSize = 0;
  properties->maxImageArraySlices = 0;
  properties->maxSamplers = 0;
  properties->maxReadImageArgs = properties->maxWriteImageArgs = 0;
  return ZE_RESULT_SUCCESS;
}

ze_result_t device_get_external_memory_properties(
    ze_device_handle_t device, ze_device_external_memory_properties_t* properties) {
  check_device(device);
  require_output(properties);
  properties->memoryAllocationImportTypes = ZE_EXTERNAL_MEMORY_TYPE_FLAG_DMA_BUF;
  if (imports_system_memory()) {
    properties->memoryAllocationImportTypes |= ZE_EXTERNAL_MEMORY_TYPE_FLAG_STANDARD_ALLOCATION;
  }
  properties->memoryAllocationExportTypes =
      config().exports == Export::kNone ? 0 : ZE_EXTERNAL_MEMORY_TYPE_FLAG_DMA_BUF;
  properties->imageImportTypes = 0;
  properties->imageExportTypes = 0;
  return ZE_RESULT_SUCCESS;
}

ze_result_t device_get_p2p_properties(ze_device_handle_t device, ze_device_handle_t peer,
                                      ze_device_p2p_properties_t* properties) {
  check_device(device);
  check_device(peer);
  require_output(properties);
  properties->flags = 0;
  return ZE_RESULT_SUCCESS;
}

ze_result_t device_get_status(ze_device_handle_t device) {
  check_device(device);
  return ZE_RESULT_SUCCESS;
}

ze_result_t device_get_global_timestamps(ze_device_handle_t device, uint64_t* host,
                                         uint64_t* device_time) {
  check_device(device);
  require_output(host);
  require_output(device_time);
  *host = monotonic_ns();
  *device_time = *host / kTimerResolutionNs;
  return ZE_RESULT_SUCCESS;
}

ze_result_t device_pci_get_properties_ext(ze_device_handle_t device,
                                          ze_pci_ext_properties_t* properties) {
  check_device(device);
  require_output(properties);
  properties->address = {0, 0, 0x0b, 0};  // place of Intel's integrated NPUs
  properties->maxSpeed = {-1, -1, -1};
  return ZE_RESULT_SUCCESS;
}

}  // namespace softnpu
