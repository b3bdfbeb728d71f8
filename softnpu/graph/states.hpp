// A model's states, as the NPU's compiler turns them: arguments that the application carries from
// one inference to the next. The application fills them with zeros for a reset: an initial value in
// the model is not used.
#pragma once

#include <openvino/core/model.hpp>

namespace softnpu {

/// Every state becomes an input "vpux_ie_read_value_<id>" and an output "vpux_ie_assign_<id>",
/// behind the model's own.
void expose_states(ov::Model& model);

}  // namespace softnpu
