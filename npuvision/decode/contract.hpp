// Contracts: what each family of models promises about its outputs.
#pragma once

#include <memory>
#include <span>
#include <string>

#include <npuvision/decoder.hpp>
#include <npuvision/tensor_group.hpp>

namespace npu::vision {

/// The facts by which a decoder is chosen. Views have no data.
struct Found {
  const ModelCard& card;
  std::span<const TensorView> outputs;
  InputSize input;
  std::span<const TensorView> model_outputs = {};  ///< all of the model's; empty: `outputs` are

  std::span<const TensorView> all() const {
    return model_outputs.empty() ? outputs : model_outputs;
  }
};

/// Start of a refusal where the shapes have nothing in common with the family's.
inline constexpr const char* kOtherTensors = "has other tensors";

struct Contract {
  Family family;
  /// Tasks of the family's models; it does not take cards with other tasks.
  std::span<const Task> tasks;
  /// Outputs in words for error messages: `[1, 4 + classes, boxes]`.
  const char* expects;
  /// Empty if the outputs fit; else the reason, as the end of a sentence: `has 56 values per box,
  /// but ...`. Strict: ambiguous outputs are refused with a hint what would decide.
  std::string (*refusal)(const Found& found);
  /// Makes the decoder; the outputs must fit.
  std::unique_ptr<Decoder> (*make)(const Found& found);
  /// Where it fits: gives the tensors the names that the registry has for them. Null: it has none.
  void (*name_tensors)(const Found& found, TensorGroup* group) = nullptr;

  bool serves(Task task) const;
};

/// `"output0" f32 [1,84,8400], "output1" f32 [1,32,160,160]`
std::string describe(std::span<const TensorView> outputs);

bool is_float(const TensorView& tensor);  ///< f32 or f16
/// Whether the dimensions are `dims`, where 0 stands for any size.
bool has_shape(const TensorView& tensor, std::initializer_list<std::size_t> dims);
/// Throws Error(kInvalidArgument) if an element lies outside the memory, or if type or shape differ
/// from those that the decoder was made for.
void check_memory(const TensorView& tensor, const TensorView& made_for);
/// The output at `index`, after check_memory().
const TensorView& checked_output(std::span<const TensorView> outputs, std::size_t index,
                                 const TensorView& made_for);

/// Throws Error(kInvalidArgument): "the output has the `what` `value`, which is no `should`".
[[noreturn]] void refuse_value(const char* what, float value, const char* should);
/// Returns the score as a probability. Throws Error(kInvalidArgument) if it is none, except for
/// rounding errors of f16; `score` must be finite.
float probability(float score);
/// Returns a whole number from 0 to `classes` - 1. Throws Error(kInvalidArgument) for any other
/// value. `classes` is 0 where it is not known.
std::uint32_t class_of(float label, std::size_t classes);

}  // namespace npu::vision
