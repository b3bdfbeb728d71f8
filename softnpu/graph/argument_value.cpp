#include "argument_value.hpp"

#include <algorithm>
#include <string>

#include "base/failure.hpp"

namespace softnpu {
namespace {

constexpr int kMostLinks = 20;

struct ChainLink {
  uint32_t stype;
  const void* next;
};

[[noreturn]] void refuse_value(const std::string& reason) {
  throw Failure(ZE_RESULT_ERROR_INVALID_ARGUMENT, reason);
}

}  // namespace

void check_strides(const Argument& argument, const Strides& strides) {
  if (!argument.takes_strides) {
    refuse_value("argument \"" + argument.name +
                 "\" takes no strides: NPU_ENABLE_STRIDES_FOR did not name it");
  }
  uint64_t inner_extent = 1;  // elements that one step of this dimension must skip
  const size_t rank = argument.shape.size();
  for (size_t i = 0; i < rank; ++i) {
    const size_t size = argument.shape[rank - 1 - i];
    if (strides[i] < inner_extent) {
      refuse_value("stride " + std::to_string(i) + " of argument \"" + argument.name + "\" is " +
                   std::to_string(strides[i]) + " elements, at least " +
                   std::to_string(inner_extent) + " are needed");
    }
    inner_extent = uint64_t{strides[i]} * (size - 1) + inner_extent;
  }
}

void take_chain(const Argument& argument, const void* chain, ArgumentValue& value) {
  require(chain != nullptr, ZE_RESULT_ERROR_INVALID_NULL_POINTER);
  value.strides.reset();
  int links = 0;
  for (const auto* link = static_cast<const ChainLink*>(chain); link != nullptr;
       link = static_cast<const ChainLink*>(link->next)) {
    if (++links > kMostLinks) {
      refuse_value("the chain has more than 20 links");
    }
    if (link->stype == ZE_STRUCTURE_TYPE_GRAPH_ARGUMENT_TENSOR) {
      const auto& tensor = *reinterpret_cast<const ze_graph_argument_value_tensor_t*>(link);
      require(tensor.pTensor != nullptr, ZE_RESULT_ERROR_INVALID_NULL_POINTER);
      value.pointer = const_cast<void*>(tensor.pTensor);
    } else if (link->stype == ZE_STRUCTURE_TYPE_GRAPH_ARGUMENT_STRIDES) {
      const auto& given = *reinterpret_cast<const ze_graph_argument_value_strides_t*>(link);
      Strides strides{};
      std::copy(std::begin(given.userStrides), std::end(given.userStrides), strides.begin());
      check_strides(argument, strides);
      value.strides = strides;
    } else {
      refuse_value("the chain holds a structure of type " + std::to_string(link->stype));
    }
  }
}

size_t extent_bytes(const Argument& argument, const ArgumentValue& value) {
  if (!value.strides) return argument.size_bytes;
  const size_t rank = argument.shape.size();
  size_t elements = 1;
  for (size_t i = 0; i < rank; ++i) {
    elements += (argument.shape[rank - 1 - i] - 1) * size_t{(*value.strides)[i]};
  }
  return elements * argument.element_type.size();
}

}  // namespace softnpu
