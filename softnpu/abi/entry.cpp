#include "entry.hpp"

#include "machine/context.hpp"
#include "machine/engine.hpp"
#include "machine/queue.hpp"

namespace softnpu {

void end_work_in_flight(ze_result_t result) {
  if (result == ZE_RESULT_ERROR_DEVICE_LOST) {
    Engine::instance().abort_all(result);
  }
}

void poison_context_of(ze_command_queue_handle_t queue) {
  if (queue != nullptr) {
    object_of<CommandQueue>(queue).context().poison();
  }
}

}  // namespace softnpu
