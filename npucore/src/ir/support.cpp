#include "ir/support.hpp"

#include <algorithm>

#include "base/text.hpp"
#include "ir/layer.hpp"
#include "npucore/error.hpp"

namespace npu::ir {
namespace {

using base::text;

// The driver tells shapes of arguments with at most eight dimensions.
constexpr std::size_t kMostDimensions = 8;

[[noreturn]] void fail(const internal::ModelState& model, const std::string& reason) {
  throw Error(ErrorCode::kUnsupported,
              text("an NPU cannot run ", base::quoted(model.path.string()), ": ", reason));
}

constexpr const char* kReshapeCure =
    "; an NPU needs static shapes: reshape the model before use, for example with "
    "model.reshape([1,3,640,640]) and openvino.save_model() in Python";

void check_dimensions(const internal::ModelState& model, const char* direction, const Port& port) {
  const auto dynamic = std::find_if(port.shape.begin(), port.shape.end(),
                                    [](std::int64_t dimension) { return dimension < 0; });
  if (dynamic != port.shape.end()) {
    fail(model,
         text(direction, ' ', base::quoted(port.name), " has the dynamic dimension ",
              dynamic - port.shape.begin(), " in its shape ", to_string(port.shape), kReshapeCure));
  }
  if (std::find(port.shape.begin(), port.shape.end(), 0) != port.shape.end()) {
    fail(model, text(direction, ' ', base::quoted(port.name), " has no elements: its shape is ",
                     to_string(port.shape)));
  }
  if (port.shape.size() > kMostDimensions) {
    fail(model, text(direction, ' ', base::quoted(port.name), " has ", port.shape.size(),
                     " dimensions, more than ", kMostDimensions));
  }
}

void check_port(const internal::ModelState& model, const char* direction, const Port& port) {
  if (port.type == ElementType::kString) {
    fail(model, text(direction, ' ', base::quoted(port.name),
                     " is of element type string: cut the text processing off the model"));
  }
  if (port.type == ElementType::kUnknown) {
    fail(model,
         text(direction, ' ', base::quoted(port.name), " has no element type that is known here"));
  }
  check_dimensions(model, direction, port);
}

void check_dynamic_rank(const internal::ModelState& model) {
  for (auto layer : model.document.layers_of_type("Parameter")) {
    if (parse_shape(layer.child("data").attribute("shape").value())) continue;
    fail(model,
         text("input ", base::quoted(layer_name(layer)), " has a dynamic rank (shape ",
              base::quoted(layer.child("data").attribute("shape").value()), ")", kReshapeCure));
  }
}

/// Layers whose output size depends on the values, such as NonZero: every input may be static.
void check_layers(const internal::ModelState& model) {
  for (auto layer : model.document.layers()) {
    for (auto port : output_ports(layer)) {
      const auto shape = port_shape(port);
      const auto dynamic = std::find(shape.begin(), shape.end(), -1);
      if (dynamic == shape.end()) continue;
      fail(model,
           text(describe_layer(layer), " makes an output whose dimension ", dynamic - shape.begin(),
                " is only known at run time, shape ", to_string(shape),
                ": cut the model in front of it and do that step after ", "the inference"));
    }
  }
}

}  // namespace

void check_supported(const internal::ModelState& model) {
  check_dynamic_rank(model);
  for (const auto& input : model.inputs) check_port(model, "input", input);
  check_layers(model);
  for (const auto& output : model.outputs) check_port(model, "output", output);
}

}  // namespace npu::ir
