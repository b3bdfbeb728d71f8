// What each family of models promises of its outputs.
#pragma once

#include <memory>
#include <span>
#include <string>

#include <npuvision/decoder.hpp>

namespace npu::vision {

/// All that a decoder is chosen by. Views without data.
struct Found {
  const ModelCard& card;
  std::span<const TensorView> outputs;
  InputSize input;
};

/// How a refusal begins where the shapes have nothing in common with the family's.
inline constexpr const char* kOtherTensors = "has other tensors";

struct Contract {
  Family family;
  /// What its models are for; a card with another task is not its.
  std::span<const Task> tasks;
  /// For error messages: `[1, 4 + classes, boxes]`.
  const char* expects;
  /// Empty where it fits; else why not, as the end of a sentence: `has 56 values per box, but ...`.
  /// Strict: what could as well be something else is refused, and the words say what would decide.
  std::string (*refusal)(const Found& found);
  /// Where it fits.
  std::unique_ptr<Decoder> (*make)(const Found& found);

  bool serves(Task task) const;
};

/// `"output0" f32 [1,84,8400], "output1" f32 [1,32,160,160]`
std::string describe(std::span<const TensorView> outputs);

bool is_float(const TensorView& tensor);  ///< f32 or f16
/// Whether the dimensions are those, of which 0 is any.
bool has_shape(const TensorView& tensor, std::initializer_list<std::size_t> dims);
/// Throws Error(kInvalidArgument) where an element lies outside the memory, or where type or shape
/// are not those that the decoder was made for.
void check_memory(const TensorView& tensor, const TensorView& made_for);
/// That one of the outputs, its memory checked.
const TensorView& checked_output(std::span<const TensorView> outputs, std::size_t index,
                                 const TensorView& made_for);

/// A score as a probability. Throws Error(kInvalidArgument) for one that is none, beyond what
/// rounding of halves explains; `score` is finite.
float probability(float score);
/// A whole number from 0 to `classes` - 1. Throws Error(kInvalidArgument) for any other. `classes`
/// 0: not known.
std::uint32_t class_of(float label, std::size_t classes);

}  // namespace npu::vision
