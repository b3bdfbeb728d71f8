#include <algorithm>
#include <array>
#include <cstring>
#include <span>

#include "base/text.hpp"
#include "ir/graph/layer.hpp"
#include "ir/graph/ports.hpp"
#include "ir/graph/xml.hpp"

#include "repair.hpp"

namespace npu::ir {
namespace {

constexpr const char* kInput = "orig_target_sizes";

struct Size {
  std::int64_t width = 0, height = 0;
};

/// Of one RGB picture; nothing where it is none, or its size is open.
std::optional<Size> picture_size(const Port& port) {
  const auto& shape = port.shape;
  if (shape.size() != 4 || shape[0] != 1 || shape[1] != 3) return {};
  if (shape[2] < 1 || shape[3] < 1 || shape[2] > INT32_MAX || shape[3] > INT32_MAX) return {};
  return Size{shape[3], shape[2]};
}

/// One width and height, whose number of pictures may be open.
bool is_sizes(const Port& port) {
  const auto& shape = port.shape;
  return (port.type == ElementType::kI64 || port.type == ElementType::kI32) && shape.size() == 2 &&
         (shape[0] == 1 || shape[0] == -1) && shape[1] == 2 && port.answers_to(kInput);
}

template <class Number>
std::uint64_t add_numbers(Weights& weights, Size size) {
  const std::array values{static_cast<Number>(size.width), static_cast<Number>(size.height)};
  return weights.append(std::as_bytes(std::span(values)));
}

std::uint64_t add_sizes(Weights& weights, Size size, bool is_long) {
  return is_long ? add_numbers<std::int64_t>(weights, size)
                 : add_numbers<std::int32_t>(weights, size);
}

LayerId replace(Model::Impl& model, pugi::xml_node parameter, const Port& port, Size size) {
  const bool is_long = port.type == ElementType::kI64;
  auto layer =
      model.document.insert_layer(parameter, layer_name(parameter) + "/frozen", "Const", "opset1");
  auto data = add(layer, "data");
  set(data, "element_type", is_long ? "i64" : "i32");
  set(data, "shape", "1,2");
  set(data, "offset", add_sizes(model.weights, size, is_long));
  set(data, "size", is_long ? 2 * sizeof(std::int64_t) : 2 * sizeof(std::int32_t));
  auto output = add(add(layer, "output"), "port");
  set(output, "id", 0);
  set(output, "precision", is_long ? "I64" : "I32");
  set_text(add(output, "dim"), "1");
  set_text(add(output, "dim"), "2");
  const auto from = parameter.child("output").child("port").attribute("id").as_ullong();
  model.document.move_consumers({layer_id(parameter), from}, {layer_id(layer), 0});
  model.document.remove_layer(parameter);
  return layer_id(layer);
}

}  // namespace

std::optional<std::string> freeze_target_sizes(Model::Impl& model) {
  if (model.inputs.size() != 2 || model.frame_input) return {};
  const std::size_t at = is_sizes(model.inputs[0]) ? 0 : 1;
  const auto size = picture_size(model.inputs[1 - at]);
  if (!is_sizes(model.inputs[at]) || !size) return {};
  const auto parameters = model.document.layers_of_type("Parameter");
  const LayerId picture = layer_id(parameters[1 - at]);
  model.frozen_sizes = {replace(model, parameters[at], model.inputs[at], *size), picture};
  return base::text("input ", kInput, " frozen to the model's width and height, ", size->width, 'x',
                    size->height);
}

void follow_picture(Model::Impl& model) {
  if (!model.frozen_sizes) return;
  const auto [constant, picture] = *model.frozen_sizes;
  const auto shape =
      parse_shape(model.document.layer(picture).child("data").attribute("shape").value());
  if (!shape || shape->size() != 4) return;
  auto data = model.document.layer(constant).child("data");
  const bool is_long = std::string_view(data.attribute("element_type").value()) == "i64";
  set(data, "offset", add_sizes(model.weights, {(*shape)[3], (*shape)[2]}, is_long));
}

}  // namespace npu::ir
