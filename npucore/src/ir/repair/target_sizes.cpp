#include <array>
#include <span>

#include "base/text.hpp"
#include "ir/graph/layer.hpp"
#include "ir/graph/ports.hpp"
#include "ir/graph/xml.hpp"

#include "frozen_input.hpp"
#include "repair.hpp"

namespace npu::ir {
namespace {

constexpr const char* kInput = "orig_target_sizes";

template <class Number>
std::array<Number, 2> numbers_of(PictureSize size) {
  return {static_cast<Number>(size.width), static_cast<Number>(size.height)};
}

template <class Number>
std::uint64_t add_numbers(Weights& weights, PictureSize size) {
  const auto numbers = numbers_of<Number>(size);
  return weights.append(std::as_bytes(std::span(numbers)));
}

std::uint64_t add_sizes(Weights& weights, PictureSize size, bool is_long) {
  return is_long ? add_numbers<std::int64_t>(weights, size)
                 : add_numbers<std::int32_t>(weights, size);
}

}  // namespace

std::optional<std::string> freeze_target_sizes(Model::Impl& model) {
  const auto input = find_pair_input(model, kInput);
  if (!input) return {};
  const ElementType type = model.inputs[input->at].type;
  if (type != ElementType::kI64 && type != ElementType::kI32) return {};
  const auto [width, height] = input->picture;
  const LayerId picture = layer_id(model.document.layers_of_type("Parameter")[input->picture_at()]);
  const LayerId constant = type == ElementType::kI64
                               ? freeze(model, *input, numbers_of<std::int64_t>(input->picture))
                               : freeze(model, *input, numbers_of<std::int32_t>(input->picture));
  model.frozen_sizes = {constant, picture};
  return base::text("input ", kInput, " frozen to the model's width and height, ", width, 'x',
                    height);
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
