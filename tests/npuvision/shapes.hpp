// Outputs by their shapes alone, as make_decoder() takes them.
#pragma once

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include <npucore/error.hpp>
#include <npuvision/decoder.hpp>

#include "support/expect.hpp"

namespace npu::vision {

struct Shaped {
  std::string name;
  std::vector<std::size_t> dims;
  npu::ElementType type = npu::ElementType::kF32;
};

inline std::vector<TensorView> views_of(const std::vector<Shaped>& outputs) {
  std::vector<TensorView> views;
  for (const Shaped& output : outputs) {
    TensorView view;
    view.name = output.name;
    view.type = output.type;
    view.rank = output.dims.size();
    std::copy(output.dims.begin(), output.dims.end(), view.dims.begin());
    std::size_t stride = npu::bit_width(view.type) / 8;
    for (std::size_t i = view.rank; i-- > 0;) {
      view.strides_bytes.at(i) = stride;
      stride *= view.dims.at(i);
    }
    views.push_back(view);
  }
  return views;
}

/// make_decoder()'s refusal; the family's name in brackets where it does not refuse.
inline std::string refusal_of(const ModelCard& card, const std::vector<Shaped>& outputs,
                              InputSize input = {128, 128}) {
  try {
    return std::string("[") + to_string(make_decoder(card, views_of(outputs), input)->family()) +
           "]";
  } catch (const Error& error) {
    return error.code() == ErrorCode::kInvalidArgument ? error.what() : "of another code";
  }
}

/// As refusal_of(), for a whole model and choose_decoder().
inline std::string choice_of(const ModelCard& card, const std::vector<Shaped>& outputs,
                             InputSize input) {
  try {
    const ChosenDecoder chosen = choose_decoder(card, views_of(outputs), input);
    return std::string("[") + to_string(chosen.decoder->family()) + "]";
  } catch (const Error& error) {
    return error.what();
  }
}

inline ModelCard card_of(Task task, std::size_t labels = 0, Family family = Family::kAuto) {
  ModelCard card;
  card.task = task;
  card.family = family;
  for (std::size_t i = 0; i < labels; ++i) card.labels.push_back("class " + std::to_string(i));
  return card;
}

struct RefusalRow {
  const char* name;
  ModelCard card;
  std::vector<Shaped> outputs;
  const char* says;  ///< part of what must be said
  InputSize input = {128, 128};
};

}  // namespace npu::vision
