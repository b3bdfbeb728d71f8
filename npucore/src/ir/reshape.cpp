#include "reshape.hpp"

#include <algorithm>
#include <set>

#include <npucore/error.hpp>

#include "base/text.hpp"
#include "ir/graph/bounds.hpp"
#include "ir/graph/layer.hpp"
#include "ir/graph/ports.hpp"
#include "ir/repair/repair.hpp"

namespace npu::ir {
namespace {

using base::text;

[[noreturn]] void refuse(const Model::Impl& model, ErrorCode code, const std::string& reason) {
  throw Error(code, text("cannot reshape ", model.document.title(), ": ", reason));
}

/// Facts that hold for all shapes within the old bounds hold for a shape inside them.
bool fits(const Shape& shape, const std::optional<std::vector<Bounds>>& bounds) {
  if (!bounds) return true;
  for (std::size_t i = 0; i < shape.size(); ++i) {
    const auto& [least, most] = (*bounds)[i];
    if (shape[i] < least || (most && shape[i] > *most)) return false;
  }
  return true;
}

/// These layers and all whose values depend on them.
std::set<LayerId> downstream(const Document& document, std::set<LayerId> sources) {
  const auto followers = document.followers();
  std::vector<LayerId> ready(sources.begin(), sources.end());
  while (!ready.empty()) {
    const auto next = followers.find(ready.back());
    ready.pop_back();
    if (next == followers.end()) continue;
    for (const auto layer : next->second) {
      if (sources.insert(layer).second) {
        ready.push_back(layer);
      }
    }
  }
  return sources;
}

void forget_shapes(const Document& document, const std::set<LayerId>& changed) {
  for (auto layer : document.layers()) {
    if (!changed.contains(layer_id(layer)) || layer_type(layer) == "Parameter") continue;
    for (auto port : output_ports(layer)) {
      set_port_shape(port, Shape(port_shape(port).size(), -1));
    }
    for (auto port : input_ports(layer)) {
      const auto from = document.producer(layer, port);
      if (from && changed.contains(from->layer)) {
        set_port_shape(port, Shape(port_shape(port).size(), -1));
      }
    }
  }
}

std::size_t find_input(const Model::Impl& model, const std::string& name) {
  std::vector<std::string> known;
  for (std::size_t i = 0; i < model.inputs.size(); ++i) {
    if (model.inputs[i].answers_to(name)) return i;
    known.push_back(
        text(base::quoted(model.inputs[i].name), ' ', to_string(model.inputs[i].shape)));
  }
  refuse(model, ErrorCode::kNotFound,
         text("it has no input ", base::quoted(name),
              "; its inputs are: ", known.empty() ? "none" : base::join(known, ", ")));
}

void check(const Model::Impl& model, const Port& input, pugi::xml_node parameter,
           const Shape& shape) {
  const auto invalid = [&](const std::string& reason) {
    refuse(model, ErrorCode::kInvalidArgument,
           text("input ", base::quoted(input.name), ": ", reason));
  };
  if (model.frame_input) {
    const auto& planes = model.frame_input->plane_inputs;
    const auto is_input = [&](const std::string& plane) { return input.answers_to(plane); };
    if (std::any_of(planes.begin(), planes.end(), is_input)) {
      invalid("its shape is that of the frames it takes; reshape before adding pre-processing");
    }
  }
  const auto bounds = bounds_of(parameter);
  if (bounds && bounds->size() != shape.size()) {
    invalid(text("the shape ", to_string(shape), " has ", shape.size(),
                 " dimensions, but the input has ", bounds->size(), ": ", to_string(input.shape)));
  }
  const auto bad = std::find_if(shape.begin(), shape.end(), [](auto dim) { return dim < 1; });
  if (bad != shape.end()) {
    invalid(text("dimension ", bad - shape.begin(), " of the shape ", to_string(shape), " is ",
                 *bad, ", but must be 1 or more"));
  }
}

}  // namespace

void reshape(Model::Impl& model, const std::map<std::string, Shape>& shapes) {
  const auto parameters = model.document.layers_of_type("Parameter");
  std::map<std::size_t, Shape> wanted;
  for (const auto& [name, shape] : shapes) {
    const auto index = find_input(model, name);
    check(model, model.inputs[index], parameters[index], shape);
    if (!wanted.emplace(index, shape).second) {
      refuse(model, ErrorCode::kInvalidArgument,
             text("input ", base::quoted(model.inputs[index].name), " is named twice"));
    }
  }
  std::set<LayerId> moved;
  for (const auto& [index, shape] : wanted) {
    const auto bounds = bounds_of(parameters[index]);
    if (shape == model.inputs[index].shape) continue;
    if (!fits(shape, bounds)) {
      moved.insert(layer_id(parameters[index]));
    }
    set_parameter_shape(parameters[index], shape);
    model.reshaped = true;
  }
  if (!moved.empty()) {
    forget_shapes(model.document, downstream(model.document, moved));
  }
  follow_picture(model);
  model.inputs = read_inputs(model.document);
  model.outputs = read_outputs(model.document);
}

}  // namespace npu::ir
