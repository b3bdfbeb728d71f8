#include "ddi.hpp"

#include <algorithm>
#include <atomic>
#include <cstring>

#include "api.hpp"
#include "entry.hpp"

namespace softnpu {
namespace {

std::atomic<int> newest_asked{0};  // the loader asks from one thread

}  // namespace

int asked_minor() {
  return newest_asked;
}

ze_result_t fill_table(ze_api_version_t asked, void* table, const DdiSlot* slots, size_t count) {
  if (table == nullptr) return ZE_RESULT_ERROR_INVALID_NULL_POINTER;
  if (ZE_MAJOR_VERSION(asked) != 1) return ZE_RESULT_ERROR_UNSUPPORTED_VERSION;
  const int minor = static_cast<int>(ZE_MINOR_VERSION(asked));
  newest_asked = std::max(newest_asked.load(), minor);
  auto* const out = static_cast<std::byte*>(table);
  for (size_t i = 0; i < count && slots[i].since <= minor; ++i) {
    std::memcpy(out + i * sizeof(void*), &slots[i].function, sizeof(void*));
  }
  return ZE_RESULT_SUCCESS;
}

namespace {

// Stands in for functions with any arguments: the C calling conventions of x86-64 and AArch64 let
// the caller clean them up.
ze_result_t ZE_APICALL unsupported() {
  return ZE_RESULT_ERROR_UNSUPPORTED_FEATURE;
}

}  // namespace
}  // namespace softnpu

#define SOFTNPU_TABLE(name)                                                                    \
  extern "C" __attribute__((visibility("default"))) ze_result_t name(ze_api_version_t version, \
                                                                     void* table) {            \
    using namespace softnpu;                                                                   \
    static const DdiSlot slots[] = {
// Also checks, where the headers know the function, that ours has its type.
#define SOFTNPU_SLOT(since, api, function) \
  {since, reinterpret_cast<void*>(         \
              static_cast<decltype(&::api)>(&CoreEntry<#api, &softnpu::function>::call))},
#define SOFTNPU_NEWER(since, api, function) \
  {since, reinterpret_cast<void*>(&CoreEntry<#api, &softnpu::function>::call)},
// A function instead of null: in intercept mode old loaders answer UNINITIALIZED for a null slot.
#define SOFTNPU_NONE(since, slot) {since, reinterpret_cast<void*>(&softnpu::unsupported)},
#define SOFTNPU_TABLE_END()                                                 \
  }                                                                         \
  ;                                                                         \
  return fill_table(version, table, slots, sizeof slots / sizeof slots[0]); \
  }

#include "ddi.inc"
