#include "batch.hpp"

#include <algorithm>
#include <openvino/core/except.hpp>

#include "base/failure.hpp"

namespace softnpu {
namespace {

// The largest first dimension; -1 if there is none.
int64_t batch_of(const ov::PartialShape& shape) {
  const bool has_one = shape.rank().is_static() && shape.size() != 0;
  return has_one ? shape[0].get_max_length() : -1;
}

// Whether it has one input, and every output is divided like it.
bool has_batch(const ov::Model& model) {
  const auto inputs = model.inputs();
  const auto outputs = model.outputs();
  if (inputs.size() != 1) return false;
  const int64_t batch = batch_of(inputs[0].get_partial_shape());
  return batch > 0 && std::all_of(outputs.begin(), outputs.end(), [batch](const auto& output) {
           return batch_of(output.get_partial_shape()) == batch;
         });
}

bool make_one(ov::Model& model) {
  ov::PartialShape shape = model.input().get_partial_shape();
  shape[0] = 1;
  try {
    model.reshape(shape);
    return true;
  } catch (const ov::Exception&) {
    return false;  // leaves the model as it was
  }
}

}  // namespace

void apply_batch_mode(ov::Model& model, std::string_view mode) {
  if (mode != "PLUGIN" && mode != "AUTO") return;
  const bool done = has_batch(model) && make_one(model);
  if (!done && mode == "PLUGIN") {
    throw Failure(
        ZE_RESULT_ERROR_INVALID_ARGUMENT,
        "compiler: this model is not supported with NPU_BATCH_MODE=\"PLUGIN\": it needs one "
        "input, whose first dimension is also every output's");
  }
}

}  // namespace softnpu
