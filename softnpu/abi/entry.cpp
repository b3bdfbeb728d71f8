#include "entry.hpp"

#include "machine/context.hpp"
#include "machine/engine.hpp"
#include "machine/queue.hpp"

namespace softnpu {
namespace {

constexpr uint32_t kFirstError = 0x70000000;

}  // namespace

void end_work_in_flight(fault::CallKind kind, ze_result_t result) {
  const bool failed_wait =
      kind == fault::CallKind::kWaits && static_cast<uint32_t>(result) >= kFirstError;
  if (failed_wait || result == ZE_RESULT_ERROR_DEVICE_LOST) {
    Engine::instance().abort_all(result);
  }
}

void poison_context_of(ze_command_queue_handle_t queue) {
  if (queue != nullptr) {
    object_of<CommandQueue>(queue).context().poison();
  }
}

}  // namespace softnpu
