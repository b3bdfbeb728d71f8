// ZE_experimental_mutable_command_list: changes the arguments of a recorded inference in a closed
// list.
#include <algorithm>

#include <ze_npu/ze_npu.h>

#include "abi/api.hpp"
#include "abi/handles.hpp"
#include "graph/inference.hpp"
#include "machine/list.hpp"

namespace softnpu {
namespace {

// The stype in use before Level Zero had one.
constexpr uint32_t kStypeOfOldClients = 0x7;

struct Link {
  uint32_t stype;
  const Link* next;
};

bool is_argument(const Link& link) {
  return link.stype == kZeNpuCoreStypeMutableGraphArgumentExpDesc ||
         link.stype == kStypeOfOldClients;
}

/// An argument's link and the links behind it that belong to it.
struct Change {
  Inference* inference = nullptr;
  uint32_t index = 0;
  ArgumentValue value;
};

Strides strides_of(const Link& link) {
  const auto& given = reinterpret_cast<const ze_graph_argument_value_strides_t&>(link);
  Strides strides{};
  std::copy(std::begin(given.userStrides), std::end(given.userStrides), strides.begin());
  return strides;
}

Inference& inference_of(CommandList& list, uint64_t command_id) {
  auto* const inference = dynamic_cast<Inference*>(&list.named_work(command_id));
  require(inference != nullptr, ZE_RESULT_ERROR_INVALID_ARGUMENT);
  return *inference;
}

// Reads one change and goes to the link behind it.
Change read_change(CommandList& list, const Link*& link) {
  require(is_argument(*link), ZE_RESULT_ERROR_INVALID_ARGUMENT);
  const auto& desc = reinterpret_cast<const ze_npu_core_mutable_graph_argument_exp_desc_t&>(*link);
  Change change{&inference_of(list, desc.commandId), desc.argIndex, {}};
  const Argument& argument = change.inference->argument(desc.argIndex);
  change.value.pointer = const_cast<void*>(desc.pArgValue);
  for (link = link->next; link != nullptr && !is_argument(*link); link = link->next) {
    if (link->stype == ZE_STRUCTURE_TYPE_GRAPH_ARGUMENT_TENSOR) {
      const auto& tensor = reinterpret_cast<const ze_graph_argument_value_tensor_t&>(*link);
      change.value.pointer = const_cast<void*>(tensor.pTensor);
    } else {
      require(link->stype == ZE_STRUCTURE_TYPE_GRAPH_ARGUMENT_STRIDES,
              ZE_RESULT_ERROR_INVALID_ARGUMENT);
      change.value.strides = strides_of(*link);
      check_strides(argument, *change.value.strides);
    }
  }
  return change;
}

}  // namespace

ze_result_t command_list_get_next_command_id(ze_command_list_handle_t list,
                                             const ze_npu_core_mutable_command_id_exp_desc_t* desc,
                                             uint64_t* id) {
  auto& own = object_of<CommandList>(list);
  require(desc != nullptr && id != nullptr, ZE_RESULT_ERROR_INVALID_NULL_POINTER);
  require(desc->flags == kZeNpuCoreMutableCommandFlagGraphArguments ||
              desc->flags == kZeNpuCoreMutableCommandFlagGraphArgumentsDeprecated,
          ZE_RESULT_ERROR_INVALID_ENUMERATION);
  *id = own.next_command_id();
  return ZE_RESULT_SUCCESS;
}

ze_result_t command_list_update_mutable_commands(
    ze_command_list_handle_t list, const ze_npu_core_mutable_commands_exp_desc_t* desc) {
  auto& own = object_of<CommandList>(list);
  require(desc != nullptr, ZE_RESULT_ERROR_INVALID_NULL_POINTER);
  require(own.changeable() && own.closed() && desc->flags == 0, ZE_RESULT_ERROR_INVALID_ARGUMENT);
  const auto* const chain = static_cast<const Link*>(desc->pNext);
  // Check everything before changing anything.
  for (const Link* link = chain; link != nullptr;) read_change(own, link);
  for (const Link* link = chain; link != nullptr;) {
    const Change change = read_change(own, link);
    change.inference->change(change.index, change.value);
  }
  return ZE_RESULT_SUCCESS;
}

}  // namespace softnpu
