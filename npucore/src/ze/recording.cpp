#include "recording.hpp"

#include <algorithm>
#include <mutex>
#include <utility>

#include "base/log.hpp"

#include "result.hpp"

namespace npu::ze {
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

Recording::Recording(const Graph& graph, const Measurement& measurement, std::uint32_t lists,
                     bool changeable)
    : graph_(&graph),
      device_(&graph.device()),
      measurement_(&measurement),
      changeable_(changeable),
      commands_(lists) {
  for (std::uint32_t list = 0; list < lists; ++list) {
    lists_.push_back(make_command_list(*device_));
    handles_.push_back(lists_.back().get());
  }
}

void Recording::set(const std::vector<ArgumentValue>& values) {
  if (values_ == values) return;
  if (changeable_ && !values_.empty()) return change(values);
  record(values, nullptr);
  values_ = values;
}

bool Recording::names(const MemoryRange& range) const {
  const auto is_in_range = [&](const ArgumentValue& value) {
    return range.contains(value.address);
  };
  return std::any_of(values_.begin(), values_.end(), is_in_range) ||
         std::any_of(replaced_.begin(), replaced_.end(), is_in_range);
}

void Recording::drop() noexcept {
  for (ze_command_list_handle_t list : handles_) {
    static_cast<void>(device_->loader.zeCommandListReset(list));
  }
  values_.clear();
  replaced_.clear();
}

void Recording::record(const std::vector<ArgumentValue>& values, Chain* chain) {
  for (std::uint32_t list = 0; list < handles_.size(); ++list) {
    device_->check(device_->loader.zeCommandListReset(handles_[list]), "zeCommandListReset");
    append(list, values, chain ? chain->link(list) : Chain::Link{});
    device_->check(device_->loader.zeCommandListClose(handles_[list]), "zeCommandListClose");
  }
}

void Recording::append(std::uint32_t list, const std::vector<ArgumentValue>& values,
                       const Chain::Link& link) {
  ze_command_list_handle_t handle = handles_[list];
  const bool stamped = measurement_->has_stamps();
  if (stamped) {
    append_stamp(handle, measurement_->begin_stamp(list));
    append_barrier(handle);
  }
  if (changeable_) {
    commands_[list] = next_command(handle);
  }
  ze_event_handle_t wait_for = link.wait_for;
  {
    std::scoped_lock lock(graph_->arguments_mutex());
    for (std::uint32_t argument = 0; argument < values.size(); ++argument) {
      set_argument(argument, values[argument], list);
    }
    device_->check(
        device_->graph->pfnAppendGraphExecute(handle, graph_->handle(), measurement_->query(list),
                                              link.signal, wait_for ? 1 : 0,
                                              wait_for ? &wait_for : nullptr),
        "pfnAppendGraphExecute",
        "a bound tensor is smaller than the driver requires, or from another context, or "
        "the device's range of addresses is full: use fewer or smaller models and "
        "tensors at a time");
  }
  if (!stamped) return;
  append_barrier(handle);
  append_stamp(handle, measurement_->end_stamp(list));
  append_barrier(handle);
}

void Recording::append_stamp(ze_command_list_handle_t list, std::uint64_t* where) const {
  device_->check(
      device_->loader.zeCommandListAppendWriteGlobalTimestamp(list, where, nullptr, 0, nullptr),
      "zeCommandListAppendWriteGlobalTimestamp");
}

void Recording::append_barrier(ze_command_list_handle_t list) const {
  device_->check(device_->loader.zeCommandListAppendBarrier(list, nullptr, 0, nullptr),
                 "zeCommandListAppendBarrier");
}

void Recording::set_argument(std::uint32_t argument, const ArgumentValue& value,
                             std::uint32_t list) const {
  const std::byte* address = address_in(value, list);
  if (!value.strides) {
    device_->check(device_->graph->pfnSetArgumentValue(graph_->handle(), argument, address),
                   "pfnSetArgumentValue");
    return;
  }
  ze_graph_argument_value_strides_t strides = strides_of(*value.strides);
  ze_graph_argument_value_tensor_t tensor = {};
  tensor.stype = ZE_STRUCTURE_TYPE_GRAPH_ARGUMENT_TENSOR;
  tensor.pNext = &strides;
  tensor.pTensor = address;
  device_->check(device_->graph->pfnSetArgumentValue2(graph_->handle(), argument, &tensor),
                 "pfnSetArgumentValue2", "a tensor's strides are not what the driver takes");
}

std::uint64_t Recording::next_command(ze_command_list_handle_t list) {
  ze_npu_core_mutable_command_id_exp_desc_t desc = {};
  desc.stype = kZeNpuCoreStypeMutableCommandIdExpDesc;
  std::uint64_t command = 0;
  ze_result_t result = ZE_RESULT_SUCCESS;
  for (const auto flag : {kZeNpuCoreMutableCommandFlagGraphArguments,
                          kZeNpuCoreMutableCommandFlagGraphArgumentsDeprecated}) {
    desc.flags = flag;
    result = device_->loader.zeCommandListGetNextCommandIdExp(list, &desc, &command);
    if (result == ZE_RESULT_SUCCESS) return command;
  }
  base::log(LogLevel::kInfo,
            "lists are recorded again for other tensors: zeCommandListGetNextCommandIdExp gave " +
                describe(result));
  changeable_ = false;
  return 0;
}

void Recording::change(const std::vector<ArgumentValue>& values) {
  changes_.reserve(values.size());  // pointers into it stay valid
  stride_changes_.reserve(values.size());
  for (std::uint32_t list = 0; list < handles_.size(); ++list) change_list(list, values);
  replaced_.swap(values_);  // keeps the memory of both
  values_ = values;
}

void Recording::change_list(std::uint32_t list, const std::vector<ArgumentValue>& values) {
  changes_.clear();
  stride_changes_.clear();
  ze_npu_core_mutable_commands_exp_desc_t desc = {};
  desc.stype = kZeNpuCoreStypeMutableCommandsExpDesc;
  const void** next = &desc.pNext;
  for (std::uint32_t argument = 0; argument < values.size(); ++argument) {
    const ArgumentValue& value = values[argument];
    if (values_[argument] == value) continue;
    auto& change = changes_.emplace_back();
    change.stype = kZeNpuCoreStypeMutableGraphArgumentExpDesc;
    change.commandId = commands_[list];
    change.argIndex = argument;
    change.pArgValue = address_in(value, list);
    *next = &change;
    next = &change.pNext;
    if (!value.strides) continue;
    auto& strides = stride_changes_.emplace_back(strides_of(*value.strides));
    *next = &strides;
    next = const_cast<const void**>(&strides.pNext);  // the driver only reads this chain
  }
  device_->check(device_->loader.zeCommandListUpdateMutableCommandsExp(handles_[list], &desc),
                 "zeCommandListUpdateMutableCommandsExp", "binding other tensors");
  device_->check(device_->loader.zeCommandListClose(handles_[list]), "zeCommandListClose");
}

}  // namespace npu::ze
