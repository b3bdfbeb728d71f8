// Helpers for the functions that append commands with events.
#pragma once

#include <level_zero/ze_api.h>

#include <cstdint>
#include <memory>

namespace softnpu {

struct Command;
class EventState;

/// The state behind a handle; throws INVALID_NULL_HANDLE.
std::shared_ptr<EventState> event_state(ze_event_handle_t event);

/// Checks the events and gives them to the command.
void set_events(Command& command, ze_event_handle_t signal, uint32_t wait_count,
                ze_event_handle_t* waits);

}  // namespace softnpu
