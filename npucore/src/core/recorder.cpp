#include "core/recorder.hpp"

#include <algorithm>
#include <utility>

#include "base/log.hpp"
#include "core/allocation.hpp"
#include "npucore/error.hpp"
#include "ze/result.hpp"

namespace npu::internal {
namespace {

const std::byte* address_in(const ArgumentValue& value, std::uint32_t list) {
  return value.address + list * value.item_bytes;
}

ze_graph_argument_value_strides_t strides_of(const ElementStrides& strides) {
  ze_graph_argument_value_strides_t desc = {};
  desc.stype = ZE_STRUCTURE_TYPE_GRAPH_ARGUMENT_STRIDES;
  std::copy(strides.begin(), strides.end(), desc.userStrides);
  return desc;
}

}  // namespace

Recorder::Recorder(Session& session, std::uint32_t lists, const Measurement& measurement)
    : session_(session),
      device_(*session.context),
      list_count_(lists),
      measurement_(measurement),
      mutable_(session.context->mutable_lists) {}

Recorder::Recording Recorder::make_recording() const {
  Recording recording;
  for (std::uint32_t list = 0; list < list_count_; ++list) {
    recording.lists.push_back(ze::make_command_list(device_));
    recording.handles.push_back(recording.lists.back().get());
  }
  recording.commands.resize(list_count_);
  return recording;
}

std::span<ze_command_list_handle_t> Recorder::lists_for(const std::vector<ArgumentValue>& values) {
  Recording& recording = recording_for(values);
  recording.last_use = ++uses_;
  if (recording.values != values) {
    if (mutable_ && !recording.values.empty())
      change(recording, values);
    else
      record(recording, values, false);
  }
  return recording.handles;
}

std::span<ze_command_list_handle_t> Recorder::chained_lists_for(
    const std::vector<ArgumentValue>& values) {
  if (recordings_.empty()) recordings_.push_back(make_recording());
  record(recordings_.front(), values, true);
  return recordings_.front().handles;
}

/// The one recorded for `values`, else a new one or the one that was not used for the longest time.
Recorder::Recording& Recorder::recording_for(const std::vector<ArgumentValue>& values) {
  if (mutable_ && !recordings_.empty()) return recordings_.front();
  // Buffers mostly come round in turn: the next one first.
  for (std::size_t ahead = 0; ahead < recordings_.size(); ++ahead) {
    const std::size_t index = (last_ + 1 + ahead) % recordings_.size();
    if (recordings_[index].values == values) {
      last_ = index;
      return recordings_[index];
    }
  }
  drop_forgotten();
  if (recordings_.size() < kMostRecordings) {
    recordings_.push_back(make_recording());
    last_ = recordings_.size() - 1;
  } else {
    const auto oldest = std::min_element(
        recordings_.begin(), recordings_.end(),
        [](const Recording& a, const Recording& b) { return a.last_use < b.last_use; });
    last_ = static_cast<std::size_t>(oldest - recordings_.begin());
  }
  return recordings_[last_];
}

/// What was recorded for buffers that do not come back.
void Recorder::drop_forgotten() {
  const auto is_forgotten = [](const ArgumentValue& value) {
    return value.memory && value.memory->forgotten.load(std::memory_order_relaxed);
  };
  std::erase_if(recordings_, [&](const Recording& recording) {
    return std::any_of(recording.values.begin(), recording.values.end(), is_forgotten);
  });
}

void Recorder::record(Recording& recording, const std::vector<ArgumentValue>& values,
                      bool chained) {
  if (!recording.values.empty()) recording.held = std::exchange(recording.values, {});
  for (std::uint32_t list = 0; list < list_count_; ++list) {
    ze_command_list_handle_t handle = recording.handles[list];
    ze::check(device_.loader.zeCommandListReset(handle), "zeCommandListReset");
    append(recording, list, values, chained ? session_.chain->link(list) : Chain::Link{});
    ze::check(device_.loader.zeCommandListClose(handle), "zeCommandListClose");
  }
  if (!chained) recording.values = values;
  recording.held = chained ? values : std::vector<ArgumentValue>();
}

void Recorder::append(Recording& recording, std::uint32_t list,
                      const std::vector<ArgumentValue>& values, const Chain::Link& link) {
  const ze::Loader& loader = device_.loader;
  ze_command_list_handle_t handle = recording.handles[list];
  auto* clock = static_cast<std::byte*>(measurement_.timestamps.address());
  const auto stamp = [&](std::size_t place) {
    auto* where = clock + list * Measurement::kTimestampBytes + place;
    ze::check(loader.zeCommandListAppendWriteGlobalTimestamp(
                  handle, reinterpret_cast<std::uint64_t*>(where), nullptr, 0, nullptr),
              "zeCommandListAppendWriteGlobalTimestamp");
    ze::check(loader.zeCommandListAppendBarrier(handle, nullptr, 0, nullptr),
              "zeCommandListAppendBarrier");
  };
  if (clock) stamp(0);
  if (mutable_) recording.commands[list] = next_command(handle);
  ze_event_handle_t wait_for = link.wait_for;
  {
    std::scoped_lock lock(session_.arguments_mutex);
    for (std::uint32_t argument = 0; argument < values.size(); ++argument)
      set_argument(argument, values[argument], list);
    const auto query = measurement_.layers ? measurement_.layers->queries[list].get() : nullptr;
    ze::check(
        device_.graph->pfnAppendGraphExecute(handle, session_.graph.handle(), query, link.signal,
                                             wait_for ? 1 : 0, wait_for ? &wait_for : nullptr),
        "pfnAppendGraphExecute",
        "a bound tensor is smaller than the driver wants, or not of this context");
  }
  if (!clock) return;
  ze::check(loader.zeCommandListAppendBarrier(handle, nullptr, 0, nullptr),
            "zeCommandListAppendBarrier");
  stamp(Measurement::kTimestampBytes / 2);
}

void Recorder::set_argument(std::uint32_t argument, const ArgumentValue& value,
                            std::uint32_t list) const {
  ze_graph_handle_t graph = session_.graph.handle();
  const std::byte* address = address_in(value, list);
  if (!value.strides) {
    ze::check(device_.graph->pfnSetArgumentValue(graph, argument, address), "pfnSetArgumentValue");
    return;
  }
  ze_graph_argument_value_strides_t strides = strides_of(*value.strides);
  ze_graph_argument_value_tensor_t tensor = {};
  tensor.stype = ZE_STRUCTURE_TYPE_GRAPH_ARGUMENT_TENSOR;
  tensor.pNext = &strides;
  tensor.pTensor = address;
  ze::check(device_.graph->pfnSetArgumentValue2(graph, argument, &tensor), "pfnSetArgumentValue2",
            "a tensor's strides are not what the driver takes");
}

std::uint64_t Recorder::next_command(ze_command_list_handle_t list) {
  ze_npu_core_mutable_command_id_exp_desc_t desc = {};
  desc.stype = kZeNpuCoreStypeMutableCommandIdExpDesc;
  std::uint64_t command = 0;
  ze_result_t result = ZE_RESULT_SUCCESS;
  for (const auto flag : {kZeNpuCoreMutableCommandFlagGraphArguments,
                          kZeNpuCoreMutableCommandFlagGraphArgumentsDeprecated}) {
    desc.flags = flag;
    result = device_.loader.zeCommandListGetNextCommandIdExp(list, &desc, &command);
    if (result == ZE_RESULT_SUCCESS) return command;
  }
  base::log(LogLevel::kInfo,
            "lists are recorded anew for other tensors: "
            "zeCommandListGetNextCommandIdExp gave " +
                ze::describe(result));
  mutable_ = false;
  return 0;
}

void Recorder::change(Recording& recording, const std::vector<ArgumentValue>& values) {
  changes_.reserve(values.size());  // what points into them stays valid
  stride_changes_.reserve(values.size());
  try {
    for (std::uint32_t list = 0; list < list_count_; ++list) change_list(recording, list, values);
  } catch (...) {
    recording.held = std::exchange(recording.values, {});
    throw;
  }
  recording.held = std::exchange(recording.values, values);
}

void Recorder::change_list(Recording& recording, std::uint32_t list,
                           const std::vector<ArgumentValue>& values) {
  changes_.clear();
  stride_changes_.clear();
  ze_npu_core_mutable_commands_exp_desc_t desc = {};
  desc.stype = kZeNpuCoreStypeMutableCommandsExpDesc;
  const void** next = &desc.pNext;
  for (std::uint32_t argument = 0; argument < values.size(); ++argument) {
    const ArgumentValue& value = values[argument];
    if (recording.values[argument] == value) continue;
    auto& change = changes_.emplace_back();
    change.stype = kZeNpuCoreStypeMutableGraphArgumentExpDesc;
    change.commandId = recording.commands[list];
    change.argIndex = argument;
    change.pArgValue = address_in(value, list);
    *next = &change;
    next = &change.pNext;
    if (!value.strides) continue;
    auto& strides = stride_changes_.emplace_back(strides_of(*value.strides));
    *next = &strides;
    next = const_cast<const void**>(&strides.pNext);  // of a chain that the driver only reads
  }
  ze_command_list_handle_t handle = recording.handles[list];
  ze::check(device_.loader.zeCommandListUpdateMutableCommandsExp(handle, &desc),
            "zeCommandListUpdateMutableCommandsExp", "binding other tensors");
  ze::check(device_.loader.zeCommandListClose(handle), "zeCommandListClose");
}

}  // namespace npu::internal
