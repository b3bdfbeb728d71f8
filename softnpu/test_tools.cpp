#include "test_tools.hpp"

#include "entry.hpp"
#include "fault.hpp"
#include "live_objects.hpp"

namespace softnpu {

void* test_tool(std::string_view name) {
  if (name == "softnpuGetLiveObjects")
    return reinterpret_cast<void*>(&ToolEntry<&get_live_objects>::call);
  if (name == "softnpuSetFault") return reinterpret_cast<void*>(&ToolEntry<&fault::set>::call);
  if (name == "softnpuGetCallCounts")
    return reinterpret_cast<void*>(&ToolEntry<&fault::get_call_counts>::call);
  return nullptr;
}

}  // namespace softnpu
