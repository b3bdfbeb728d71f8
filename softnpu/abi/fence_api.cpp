// zeFence*.
#include "machine/fence.hpp"
#include "machine/in_use.hpp"
#include "machine/queue.hpp"

#include "api.hpp"
#include "handles.hpp"

namespace softnpu {

ze_result_t fence_create(ze_command_queue_handle_t queue, const ze_fence_desc_t* desc,
                         ze_fence_handle_t* fence) {
  auto& owner = object_of<CommandQueue>(queue);
  require(desc != nullptr && fence != nullptr, ZE_RESULT_ERROR_INVALID_NULL_POINTER);
  require(desc->stype == ZE_STRUCTURE_TYPE_FENCE_DESC, ZE_RESULT_ERROR_INVALID_ARGUMENT);
  const bool signalled = (desc->flags & ZE_FENCE_FLAG_SIGNALED) != 0;
  hand_out(std::make_unique<Fence>(owner, signalled), fence);
  return ZE_RESULT_SUCCESS;
}

ze_result_t fence_destroy(ze_fence_handle_t fence) {
  check_not_in_use("fence", fence, object_of<Fence>(fence).user());
  take_back<Fence>(fence);
  return ZE_RESULT_SUCCESS;
}

ze_result_t fence_host_synchronize(ze_fence_handle_t fence, uint64_t timeout_ns) {
  return object_of<Fence>(fence).wait(Deadline::after(timeout_ns));
}

ze_result_t fence_query_status(ze_fence_handle_t fence) {
  return object_of<Fence>(fence).wait(Deadline::after(0));
}

ze_result_t fence_reset(ze_fence_handle_t fence) {
  object_of<Fence>(fence).reset();
  return ZE_RESULT_SUCCESS;
}

}  // namespace softnpu
