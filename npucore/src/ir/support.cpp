#include "support.hpp"

#include <algorithm>

#include <npucore/error.hpp>

#include "base/text.hpp"
#include "ir/graph/layer.hpp"

#include "reshape.hpp"

namespace npu::ir {
namespace {

using base::text;

// The driver tells shapes of arguments with at most eight dimensions.
constexpr std::size_t kMostDimensions = 8;

[[noreturn]] void fail(const Model::Impl& model, const std::string& reason) {
  throw Error(ErrorCode::kUnsupported,
              text("an NPU cannot run ", base::quoted(model.path.string()), ": ", reason));
}

constexpr const char* kReshapeCure =
    "; an NPU needs static shapes: give the input one with Model::reshape() before compiling, or "
    "reshape the model in Python with model.reshape() and openvino.save_model()";

void check_dimensions(const Model::Impl& model, const char* direction, const Port& port) {
  if (std::find(port.shape.begin(), port.shape.end(), 0) != port.shape.end()) {
    fail(model, text(direction, ' ', base::quoted(port.name), " has no elements: its shape is ",
                     to_string(port.shape)));
  }
  if (port.shape.size() > kMostDimensions) {
    fail(model, text(direction, ' ', base::quoted(port.name), " has ", port.shape.size(),
                     " dimensions, more than ", kMostDimensions));
  }
}

void check_port(const Model::Impl& model, const char* direction, const Port& port) {
  if (port.type == ElementType::kString) {
    fail(model, text(direction, ' ', base::quoted(port.name),
                     " is of element type string: cut the text processing off the model"));
  }
  if (port.type == ElementType::kUnknown) {
    fail(model, text(direction, ' ', base::quoted(port.name),
                     " has an element type that npucore does not know"));
  }
  check_dimensions(model, direction, port);
}

/// "2 (H)", the letter where the model's layout tells it.
std::string dimension_name(pugi::xml_node parameter, std::size_t index, std::size_t rank) {
  const auto letters = layout_letters(parameter);
  if (letters.size() != rank) return text(index);
  return text(index, " (", letters[index], ')');
}

void check_sizes_known(const Model::Impl& model) {
  for (auto layer : model.document.layers_of_type("Parameter")) {
    const auto shape = with_upper_bounds(layer);
    if (!shape) {
      fail(model,
           text("input ", base::quoted(layer_name(layer)), " has a dynamic rank (shape ",
                base::quoted(layer.child("data").attribute("shape").value()), ")", kReshapeCure));
    }
    const auto unset = std::find(shape->begin(), shape->end(), -1);
    if (unset == shape->end()) continue;
    const auto index = static_cast<std::size_t>(unset - shape->begin());
    fail(model, text("input ", base::quoted(layer_name(layer)), " has the dynamic dimension ",
                     dimension_name(layer, index, shape->size()), " without a bound in its shape ",
                     to_string(*shape), kReshapeCure));
  }
}

/// Layers whose output size depends on the values, such as NonZero: every input may be static.
void check_layers(const Model::Impl& model) {
  for (auto layer : model.document.layers()) {
    for (auto port : output_ports(layer)) {
      const auto shape = port_shape(port);
      const auto dynamic = std::find(shape.begin(), shape.end(), -1);
      if (dynamic == shape.end()) continue;
      fail(model,
           text(describe_layer(layer), " makes an output whose dimension ", dynamic - shape.begin(),
                " is only known at run time, shape ", to_string(shape),
                ": cut the model before it and do that step after ", "the inference"));
    }
  }
}

}  // namespace

void check_supported(const Model::Impl& model) {
  check_sizes_known(model);
  for (const auto& input : model.inputs) check_port(model, "input", input);
  // With other sizes at the inputs, only the compiler knows what is dynamic inside.
  if (!has_stale_shapes(model)) {
    check_layers(model);
  }
  for (const auto& output : model.outputs) check_port(model, "output", output);
}

}  // namespace npu::ir
