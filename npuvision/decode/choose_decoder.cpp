#include <numeric>

#include <npucore/error.hpp>
#include <npuvision/decoder.hpp>

#include "families.hpp"
#include "values.hpp"

namespace npu::vision {
namespace {

ChosenDecoder decoder_of_one(const ModelCard& card, std::span<const TensorView> outputs,
                             std::size_t index, InputSize input) {
  return {make_decoder(card, outputs.subspan(index, 1), input), {index}};
}

/// Without a decoder where none or several of the outputs have one.
ChosenDecoder only_decoder(const ModelCard& card, std::span<const TensorView> outputs,
                           InputSize input) {
  ChosenDecoder found;
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    try {
      const Found one{card, outputs.subspan(i, 1), input, outputs};
      auto decoder = fitting_contract(one).make(one);
      if (found.decoder) return {};
      found = {std::move(decoder), {i}};
    } catch (const Error&) {  // not this one
    }
  }
  return found;
}

}  // namespace

InputSize picture_size(std::span<const npu::Port> inputs) {
  InputSize size;
  for (const npu::Port& input : inputs) {
    const npu::Shape& shape = input.shape;
    if (shape.size() != 4) continue;
    if (size.width != 0) return {};
    const std::size_t top = shape[1] > 4 && shape[3] <= 4 ? 1 : 2;  // NHWC or NCHW
    if (shape[top] < 1 || shape[top + 1] < 1) return {};
    size = {static_cast<std::uint32_t>(shape[top + 1]), static_cast<std::uint32_t>(shape[top])};
  }
  return size;
}

ChosenDecoder choose_decoder(const ModelCard& card, std::span<const TensorView> outputs,
                             InputSize input) {
  const auto named = named_output(outputs, card.output);
  if (!card.output.empty() && named) return decoder_of_one(card, outputs, *named, input);
  std::vector<std::size_t> all(outputs.size());
  std::iota(all.begin(), all.end(), std::size_t{0});
  try {
    return {make_decoder(card, outputs, input), std::move(all)};
  } catch (const Error&) {
    if (outputs.size() < 2) throw;
    ChosenDecoder one = only_decoder(card, outputs, input);
    if (!one.decoder) throw;
    return one;
  }
}

}  // namespace npu::vision
