// Turns a model's states into arguments, as the NPU's compiler does; the application carries them
// from one inference to the next. The application fills them with zeros for a reset; an initial
// value in the model is not used.
#pragma once

#include <openvino/core/model.hpp>

namespace softnpu {

/// Turns every state into an input "vpux_ie_read_value_<id>" and an output "vpux_ie_assign_<id>",
/// behind the model's own.
void expose_states(ov::Model& model);

}  // namespace softnpu
