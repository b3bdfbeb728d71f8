#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include <npucore/model.hpp>

namespace npu::ir {

/// A variable of a model (ReadValue, Assign) and its value before the first inference.
struct StateValue {
  std::string id;  ///< variable_id
  /// Dense, in the variable's own type. Empty: zeros, or not a constant.
  std::vector<std::byte> initial;
};

/// The variables of a model, in the order of its ReadValue layers. An initial value is known if it
/// is a constant, one converted from f16 to f32, or a broadcast single number.
std::vector<StateValue> initial_states(const Model& model);

}  // namespace npu::ir
