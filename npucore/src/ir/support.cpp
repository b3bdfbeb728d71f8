#include "support.hpp"

#include <algorithm>
#include <array>
#include <set>

#include <npucore/error.hpp>

#include "base/text.hpp"
#include "ir/graph/bounds.hpp"
#include "ir/graph/layer.hpp"

namespace npu::ir {
namespace {

using base::text;

// The driver handles shapes of at most eight dimensions.
constexpr std::size_t kMostDimensions = 8;

[[noreturn]] void fail(const Model::Impl& model, const std::string& reason,
                       NextStep next_step = NextStep::kNone) {
  throw Error(ErrorCode::kUnsupported,
              text("an NPU cannot run ", model.document.title(), ": ", reason), {}, next_step);
}

constexpr const char* kCutCure =
    ": make an IR that ends before it (docs/models.md, \"A part of a model\"), and do that step "
    "after the inference";
constexpr const char* kReshapeCure = "; an NPU needs static shapes: reshape the model to one";

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

/// "2 (H)", with the letter if the model's layout has it.
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
                base::quoted(layer.child("data").attribute("shape").value()), ")", kReshapeCure),
           NextStep::kReshape);
    }
    const auto unset = std::find(shape->begin(), shape->end(), -1);
    if (unset == shape->end()) continue;
    const auto index = static_cast<std::size_t>(unset - shape->begin());
    fail(model,
         text("input ", base::quoted(layer_name(layer)), " has the dynamic dimension ",
              dimension_name(layer, index, shape->size()), " without a bound in its shape ",
              to_string(*shape), kReshapeCure),
         NextStep::kReshape);
  }
}

bool is_dynamic(pugi::xml_node port) {
  const auto shape = port_shape(port);
  return std::find(shape.begin(), shape.end(), -1) != shape.end();
}

template <std::size_t kCount>
bool is_one_of(const std::array<const char*, kCount>& types, pugi::xml_node layer) {
  const auto type = layer_type(layer);
  return std::any_of(types.begin(), types.end(), [&](const char* name) { return type == name; });
}

/// The layers whose values are only known at run time. The compiler computes all others from
/// constants and sizes.
std::set<LayerId> run_time_values(const Document& document) {
  constexpr std::array kSources{"Parameter", "ReadValue", "RandomUniform", "Multinomial"};
  const auto followers = document.followers();
  std::set<LayerId> found;
  std::vector<LayerId> ready;
  const auto take = [&](pugi::xml_node layer) {
    if (layer_type(layer) != "ShapeOf" && found.insert(layer_id(layer)).second) {
      ready.push_back(layer_id(layer));
    }
  };
  for (auto layer : document.layers()) {
    if (is_one_of(kSources, layer)) {
      take(layer);
    }
  }
  while (!ready.empty()) {
    const auto next = followers.find(ready.back());
    ready.pop_back();
    if (next == followers.end()) continue;
    for (const auto layer : next->second) take(document.layer(layer));
  }
  return found;
}

/// True for operators that read the size from their first input's values. Others work on it, and
/// its values make no difference.
bool first_input_makes_size(pugi::xml_node layer) {
  constexpr std::array kTypes{"Eye", "NonZero", "RandomUniform", "Range", "Unique"};
  return is_one_of(kTypes, layer);
}

/// Whether the values of its inputs, not their sizes alone, decide the size of its outputs, and are
/// only known at run time. A converter writes -1 there, but also where it could not compute the
/// values: behind weights that it compressed to f16, and behind an Identity.
bool makes_size_at_run_time(const Document& document, pugi::xml_node layer,
                            const std::set<LayerId>& values) {
  const auto inputs = input_ports(layer);
  const bool first = first_input_makes_size(layer);
  // Such a layer only passes on an input's size.
  if (!first && std::any_of(inputs.begin(), inputs.end(), is_dynamic)) return false;
  for (std::size_t i = first ? 0 : 1; i < inputs.size(); ++i) {
    const auto from = document.producer(layer, inputs[i]);
    if (from && values.contains(from->layer)) return true;
  }
  return false;
}

/// Refuses layers whose output size depends on values, such as NonZero: all inputs may be static.
void check_layers(const Model::Impl& model) {
  const auto values = run_time_values(model.document);
  for (auto layer : model.document.layers()) {
    const auto ports = output_ports(layer);
    const auto port = std::find_if(ports.begin(), ports.end(), is_dynamic);
    if (port == ports.end() || !makes_size_at_run_time(model.document, layer, values)) continue;
    const auto shape = port_shape(*port);
    const auto dynamic = std::find(shape.begin(), shape.end(), -1);
    fail(model,
         text(describe_layer(layer), " makes an output whose dimension ", dynamic - shape.begin(),
              " is only known at run time, shape ", to_string(shape), kCutCure));
  }
}

/// Refuses the layers inside loops and conditions whose output size depends on values whatever
/// feeds them. The compiler may compute the sizes of others once it has unrolled a loop.
void check_bodies(const Model::Impl& model) {
  struct Finder : pugi::xml_tree_walker {
    pugi::xml_node found;
    bool for_each(pugi::xml_node& node) override {
      constexpr std::array kTypes{"NonMaxSuppression", "NonZero", "Unique"};
      if (std::string_view(node.name()) == "layer" && is_one_of(kTypes, node)) {
        const auto ports = output_ports(node);
        const bool is_open = std::any_of(ports.begin(), ports.end(), is_dynamic);
        if (is_open) {
          found = node;
        }
        return !is_open;
      }
      return true;
    }
  };
  for (const auto layer : model.document.layers()) {
    for (const auto part : layer.children()) {
      if (!part.child("layers")) continue;
      Finder finder;
      pugi::xml_node(part).traverse(finder);
      if (!finder.found) continue;
      fail(model, text(describe_layer(finder.found), " inside ", describe_layer(layer),
                       " makes an output whose size is only known at run time", kCutCure));
    }
  }
}

/// Refuses operators that no compiler has. Without sizes nothing has cut them off.
void check_detectors(const Model::Impl& model) {
  for (const char* type : {"MulticlassNms", "MatrixNms"}) {
    for (const auto layer : model.document.layers_of_type(type)) {
      fail(model, text(describe_layer(layer),
                       " finds a number of boxes that is only known at run time, and its end is "
                       "left to the host only where the file itself has all sizes: reshape the "
                       "model in Python with model.reshape() and openvino.save_model()"));
    }
  }
}

}  // namespace

void check_supported(const Model::Impl& model) {
  check_sizes_known(model);
  for (const auto& input : model.inputs) check_port(model, "input", input);
  // After a reshape only the compiler knows what is dynamic inside.
  if (!has_stale_shapes(model)) {
    check_layers(model);
  }
  check_bodies(model);
  check_detectors(model);
  for (const auto& output : model.outputs) check_port(model, "output", output);
}

std::vector<LayerName> layer_names(const Model& model) {
  std::vector<LayerName> names;
  for (auto layer : impl_of(model).document.layers()) {
    names.push_back({layer.attribute("name").value(), layer.attribute("type").value()});
  }
  return names;
}

}  // namespace npu::ir
