// Intel's NPU platforms: the one list that whatever depends on the platform reads.
#pragma once

#include <cstdint>

// X(platform, elfNumber, numTiles, numRequests, PCI device ids), the oldest platform first.
#define ZE_NPU_PLATFORMS(X)                                 \
  X(3720, 3, 2, 4, 0x7d1d, 0xad1d) /* Meteor, Arrow Lake */ \
  X(4000, 4, 6, 8, 0x643e)         /* Lunar Lake */         \
  X(5010, 5, 3, 8, 0xb03e)         /* Panther Lake */       \
  X(5020, 5020, 1, 8, 0xfd3e)      /* Wildcat Lake */       \
  X(6010, 6010, 4, 8, 0xd71d)      /* Nova Lake */

struct ze_npu_platform_t {
  uint32_t platform;         // as NPU_PLATFORM and DEVICE_ARCHITECTURE spell it
  uint32_t elfNumber;        // in the section meta.PlatformInfo of a blob
  uint32_t numTiles;         // most tiles of a product; a part may have fewer
  uint32_t numRequests;      // to keep in flight with the hint THROUGHPUT
  uint16_t pciDeviceIds[2];  // of the products; 0: no other
};

#define ZE_NPU_PLATFORM_ROW(platform, elf, tiles, requests, ...) \
  {platform, elf, tiles, requests, {__VA_ARGS__}},
inline constexpr ze_npu_platform_t kZeNpuPlatforms[] = {ZE_NPU_PLATFORMS(ZE_NPU_PLATFORM_ROW)};
#undef ZE_NPU_PLATFORM_ROW

// Null for an id that no known NPU has.
constexpr const ze_npu_platform_t* ze_npu_platform_of_pci_id(uint32_t pciDeviceId) {
  for (const ze_npu_platform_t& entry : kZeNpuPlatforms) {
    for (const uint16_t id : entry.pciDeviceIds) {
      if (id != 0 && id == pciDeviceId) return &entry;
    }
  }
  return nullptr;
}

// Null for an unknown platform.
constexpr const ze_npu_platform_t* ze_npu_platform_of_number(uint64_t platform) {
  for (const ze_npu_platform_t& entry : kZeNpuPlatforms) {
    if (entry.platform == platform) return &entry;
  }
  return nullptr;
}
