#include "frozen_input.hpp"

#include "ir/graph/ports.hpp"
#include "ir/graph/xml.hpp"

namespace npu::ir {
namespace {

/// Size of one RGB picture; nothing if it is none, or its size is open.
std::optional<PictureSize> picture_size(const Port& port) {
  const auto& shape = port.shape;
  if (shape.size() != 4 || shape[0] != 1 || shape[1] != 3) return {};
  if (shape[2] < 1 || shape[3] < 1 || shape[2] > INT32_MAX || shape[3] > INT32_MAX) return {};
  return PictureSize{shape[3], shape[2]};
}

/// Allows an open number of pictures.
bool is_pair(const Port& port) {
  const auto& shape = port.shape;
  return shape.size() == 2 && (shape[0] == 1 || shape[0] == -1) && shape[1] == 2;
}

}  // namespace

std::optional<PairInput> find_pair_input(const Model::Impl& model, const char* name) {
  if (model.inputs.size() != 2 || model.frame_input) return {};
  const std::size_t at = model.inputs[0].answers_to(name) ? 0 : 1;
  const auto picture = picture_size(model.inputs[1 - at]);
  const Port& port = model.inputs[at];
  if (!picture || !is_pair(port) || !port.answers_to(name)) return {};
  return PairInput{at, *picture};
}

LayerId freeze(Model::Impl& model, const PairInput& input, std::span<const std::byte> numbers) {
  const auto parameter = model.document.layers_of_type("Parameter")[input.at];
  const auto old_port = parameter.child("output").child("port");
  auto layer =
      model.document.insert_layer(parameter, layer_name(parameter) + "/frozen", "Const", "opset1");
  auto data = add(layer, "data");
  set(data, "element_type", parameter.child("data").attribute("element_type").value());
  set(data, "shape", "1,2");
  set(data, "offset", model.weights.append(numbers));
  set(data, "size", numbers.size());
  auto output = add(add(layer, "output"), "port");
  set(output, "id", 0);
  set(output, "precision", old_port.attribute("precision").value());
  set_text(add(output, "dim"), "1");
  set_text(add(output, "dim"), "2");
  const auto from = old_port.attribute("id").as_ullong();
  model.document.move_consumers({layer_id(parameter), from}, {layer_id(layer), 0});
  model.document.remove_layer(parameter);
  return layer_id(layer);
}

}  // namespace npu::ir
