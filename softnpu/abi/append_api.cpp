// zeCommandListAppend*.
#include <cstring>

#include "base/clock.hpp"
#include "machine/context.hpp"
#include "machine/event.hpp"
#include "machine/list.hpp"

#include "api.hpp"
#include "event_api.hpp"
#include "handles.hpp"

namespace softnpu {
namespace {

/// A 2D region's rows in memory.
struct Rows {
  std::byte* first;
  size_t pitch_bytes;
};

CommandList& open_list(ze_command_list_handle_t handle) {
  auto& list = object_of<CommandList>(handle);
  list.check_open();
  return list;
}

// Adds the range's allocation to the command's memory; throws `if_foreign` for a range outside the
// list's context.
const Allocation& use_memory(Command& command, CommandList& list, const void* pointer,
                             size_t size_bytes, ze_result_t if_foreign) {
  require(pointer != nullptr, ZE_RESULT_ERROR_INVALID_NULL_POINTER);
  auto allocation = list.context().allocations().find_range(pointer, size_bytes);
  require(allocation != nullptr, if_foreign);
  command.memory.push_back(std::move(allocation));
  return *command.memory.back();
}

const Allocation& write_memory(Command& command, CommandList& list, const void* pointer,
                               size_t size_bytes, ze_result_t if_foreign) {
  const Allocation& memory = use_memory(command, list, pointer, size_bytes, if_foreign);
  command.written.push_back(&memory);
  return memory;
}

size_t region_bytes(const ze_copy_region_t& region, size_t pitch_bytes) {
  return region.height == 0 ? 0 : (region.height - 1) * pitch_bytes + region.width;
}

Rows rows_of(const void* base, const ze_copy_region_t& region, uint32_t pitch_bytes) {
  auto* const start = static_cast<std::byte*>(const_cast<void*>(base));
  return {start + size_t{region.originY} * pitch_bytes + region.originX, pitch_bytes};
}

void check_regions(const ze_copy_region_t* a, const ze_copy_region_t* b) {
  require(a != nullptr && b != nullptr, ZE_RESULT_ERROR_INVALID_NULL_POINTER);
  const bool same = a->width == b->width && a->height == b->height && a->depth == b->depth;
  const bool flat = a->depth <= 1 && a->originZ == 0 && b->originZ == 0;
  require(same && flat, ZE_RESULT_ERROR_INVALID_ARGUMENT);
}

}  // namespace

ze_result_t command_list_append_write_global_timestamp(ze_command_list_handle_t list,
                                                       uint64_t* destination,
                                                       ze_event_handle_t signal,
                                                       uint32_t wait_count,
                                                       ze_event_handle_t* waits) {
  auto& target = open_list(list);
  Command command;
  set_events(command, signal, wait_count, waits);
  const auto& to = write_memory(command, target, destination, sizeof *destination,
                                ZE_RESULT_ERROR_UNINITIALIZED);
  command.run = [destination, &to] {
    *static_cast<uint64_t*>(to.on_device(destination)) = monotonic_ns();
  };
  target.append(std::move(command));
  return ZE_RESULT_SUCCESS;
}

ze_result_t command_list_append_barrier(ze_command_list_handle_t list, ze_event_handle_t signal,
                                        uint32_t wait_count, ze_event_handle_t* waits) {
  auto& target = open_list(list);
  Command command;
  set_events(command, signal, wait_count, waits);
  target.append(std::move(command));
  return ZE_RESULT_SUCCESS;
}

ze_result_t command_list_append_memory_copy(ze_command_list_handle_t list, void* destination,
                                            const void* source, size_t size,
                                            ze_event_handle_t signal, uint32_t wait_count,
                                            ze_event_handle_t* waits) {
  auto& target = open_list(list);
  Command command;
  set_events(command, signal, wait_count, waits);
  const auto& to = write_memory(command, target, destination, size, ZE_RESULT_ERROR_UNINITIALIZED);
  const auto& from = use_memory(command, target, source, size, ZE_RESULT_ERROR_UNINITIALIZED);
  command.run = [destination, source, size, &to, &from] {
    std::memmove(to.on_device(destination), from.on_device(source), size);
  };
  target.append(std::move(command));
  return ZE_RESULT_SUCCESS;
}

ze_result_t command_list_append_memory_fill(ze_command_list_handle_t list, void* pointer,
                                            const void* pattern, size_t pattern_size, size_t size,
                                            ze_event_handle_t signal, uint32_t wait_count,
                                            ze_event_handle_t* waits) {
  auto& target = open_list(list);
  require(pattern != nullptr, ZE_RESULT_ERROR_INVALID_NULL_POINTER);
  require(pattern_size == 1 || pattern_size == 2 || pattern_size == 4,
          ZE_RESULT_ERROR_INVALID_SIZE);
  Command command;
  set_events(command, signal, wait_count, waits);
  const auto& to =
      write_memory(command, target, pointer, size, ZE_RESULT_ERROR_OUT_OF_DEVICE_MEMORY);
  const auto* const bytes = static_cast<const std::byte*>(pattern);
  command.run = [pointer, size, &to, unit = std::vector<std::byte>(bytes, bytes + pattern_size)] {
    auto* const out = static_cast<std::byte*>(to.on_device(pointer));
    for (size_t i = 0; i < size; ++i) out[i] = unit[i % unit.size()];
  };
  target.append(std::move(command));
  return ZE_RESULT_SUCCESS;
}

// Level Zero decides how many parameters there are. NOLINTNEXTLINE(readability-function-size)
ze_result_t command_list_append_memory_copy_region(
    ze_command_list_handle_t list, void* destination, const ze_copy_region_t* destination_region,
    uint32_t destination_pitch, uint32_t, const void* source, const ze_copy_region_t* source_region,
    uint32_t source_pitch, uint32_t, ze_event_handle_t signal, uint32_t wait_count,
    ze_event_handle_t* waits) {
  auto& target = open_list(list);
  require(destination != nullptr && source != nullptr, ZE_RESULT_ERROR_INVALID_NULL_POINTER);
  check_regions(destination_region, source_region);
  Command command;
  set_events(command, signal, wait_count, waits);
  const Rows to = rows_of(destination, *destination_region, destination_pitch);
  const Rows from = rows_of(source, *source_region, source_pitch);
  const size_t width = source_region->width;
  const size_t height = source_region->height;
  const auto& written =
      write_memory(command, target, to.first, region_bytes(*destination_region, to.pitch_bytes),
                   ZE_RESULT_ERROR_UNINITIALIZED);
  const auto& read =
      use_memory(command, target, from.first, region_bytes(*source_region, from.pitch_bytes),
                 ZE_RESULT_ERROR_UNINITIALIZED);
  command.run = [to, from, width, height, &written, &read] {
    auto* const out = static_cast<std::byte*>(written.on_device(to.first));
    const auto* const in = static_cast<const std::byte*>(read.on_device(from.first));
    for (size_t y = 0; y < height; ++y) {
      std::memmove(out + y * to.pitch_bytes, in + y * from.pitch_bytes, width);
    }
  };
  target.append(std::move(command));
  return ZE_RESULT_SUCCESS;
}

ze_result_t command_list_append_signal_event(ze_command_list_handle_t list,
                                             ze_event_handle_t event) {
  auto& target = open_list(list);
  Command command;
  command.signals = event_state(event);
  target.append(std::move(command));
  return ZE_RESULT_SUCCESS;
}

ze_result_t command_list_append_wait_on_events(ze_command_list_handle_t list, uint32_t count,
                                               ze_event_handle_t* events) {
  auto& target = open_list(list);
  Command command;
  set_events(command, nullptr, count, events);
  target.append(std::move(command));
  return ZE_RESULT_SUCCESS;
}

ze_result_t command_list_append_event_reset(ze_command_list_handle_t list,
                                            ze_event_handle_t event) {
  auto& target = open_list(list);
  Command command;
  command.run = [state = event_state(event)] { state->reset(); };
  target.append(std::move(command));
  return ZE_RESULT_SUCCESS;
}

}  // namespace softnpu
