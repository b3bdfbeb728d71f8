// Functions that only tests use, under the names that README.md lists.
#include <string>

#include "abi/entry.hpp"
#include "base/early_destroy.hpp"
#include "base/fault.hpp"
#include "base/live_objects.hpp"

#include "extensions.hpp"

namespace softnpu {
namespace {

ze_result_t get_live_objects(uint32_t* count, const char** text) {
  require(count != nullptr, ZE_RESULT_ERROR_INVALID_NULL_POINTER);
  thread_local LiveObjects objects;
  objects = live_objects();
  *count = objects.count;
  if (text != nullptr) {
    *text = objects.text.c_str();
  }
  return ZE_RESULT_SUCCESS;
}

ze_result_t get_early_destroys(uint64_t* count) {
  require(count != nullptr, ZE_RESULT_ERROR_INVALID_NULL_POINTER);
  *count = early_destroys();
  return ZE_RESULT_SUCCESS;
}

ze_result_t set_fault(const char* specification) {
  fault::set(specification != nullptr ? specification : "");
  return ZE_RESULT_SUCCESS;
}

ze_result_t get_call_counts(const char** text) {
  require(text != nullptr, ZE_RESULT_ERROR_INVALID_NULL_POINTER);
  thread_local std::string counts;
  counts = fault::call_counts();
  *text = counts.c_str();
  return ZE_RESULT_SUCCESS;
}

}  // namespace

void* test_tool(std::string_view name) {
  if (name == "softnpuGetLiveObjects") {
    return reinterpret_cast<void*>(&ToolEntry<&get_live_objects>::call);
  }
  if (name == "softnpuGetEarlyDestroys") {
    return reinterpret_cast<void*>(&ToolEntry<&get_early_destroys>::call);
  }
  if (name == "softnpuSetFault") return reinterpret_cast<void*>(&ToolEntry<&set_fault>::call);
  if (name == "softnpuGetCallCounts") {
    return reinterpret_cast<void*>(&ToolEntry<&get_call_counts>::call);
  }
  return nullptr;
}

}  // namespace softnpu
