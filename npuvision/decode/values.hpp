// Reads elements of tensors as floats, and cuts the frame's part out of a model's map.
#pragma once

#include <cstddef>
#include <initializer_list>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <npucore/frame.hpp>
#include <npuvision/answer.hpp>
#include <npuvision/tensor_view.hpp>

#include "contract.hpp"

namespace npu::vision {

bool is_whole(const TensorView& tensor);  ///< has an integer or boolean type

/// Address of the element with this index.
const std::byte* element(const TensorView& tensor, std::initializer_list<std::size_t> index);
/// Reads as many elements as `to` holds, `stride_bytes` apart, from f32, f16 or an integer type of
/// 8 bits or more. Whole numbers up to 2^24 are exact.
void read(const TensorView& tensor, const std::byte* from, std::size_t stride_bytes,
          std::span<float> to);
/// All elements, row after row.
void read_all(const TensorView& tensor, std::vector<float>* to);
/// Whether read() knows the type.
bool is_readable(const TensorView& tensor);

bool are_finite(std::span<const float> values);
/// Empties an answer made from values that are not finite, and marks it undefined.
void leave_undefined(Answer* answer);

float sigmoid(float logit);
/// The logit with this sigmoid; quickly excludes values far below a threshold.
float logit(float probability);

/// Whether all values lie within 0..1, as those of a sigmoid; values that are not numbers tell
/// nothing. False for fewer than 32 values, which could be logits that lie there by chance.
bool are_shares(std::span<const float> values);
/// Replaces shares by their logits.
void to_logits(std::span<float> shares);
/// The same, where the values are shares: the graph ends in the sigmoid that the family leaves out.
void undo_sigmoid(std::span<float> values);
/// The same for rows of `columns` shares with the sum 1, as a softmax makes them; for three rows or
/// more.
void undo_softmax(std::span<float> values, std::size_t columns);

/// The output of that name.
std::optional<std::size_t> named_output(std::span<const TensorView> outputs, std::string_view name);
/// Whether the card names this output, or none.
bool may_be_meant(const Found& found, const TensorView& output);
/// Index of the only output that fits and may be meant; -1: none; -2: several.
int only_output(const Found& found, bool (*fits)(const Found& found, const TensorView& output));
/// The refusal where only_output() finds none or several; names these.
std::string why_none(const Found& found,
                     bool (*fits)(const Found& found, const TensorView& output));

/// Whether a map [..., height, width] may cover the model's whole input: its proportions match to
/// within one row or column. True where the input is not known.
bool has_proportions(const TensorView& map, InputSize input);
/// Start of the refusal of a map with other proportions.
inline constexpr const char* kOtherProportions =
    "has other proportions than the model's input, and a map covers that";

/// The part of a map that shows the frame, without a letterbox's border.
struct Window {
  std::size_t left = 0, top = 0, width = 0, height = 0;
};
/// Computes it for a map over the model's whole input, in whole values, at least one.
Window window_of(const npu::FrameGeometry& geometry, FrameSize frame, std::size_t map_width,
                 std::size_t map_height);
/// Copies that part of the values to the answer's map.
void give_window(std::span<const float> values, std::size_t map_width, const Window& window,
                 Map<float>* map);

}  // namespace npu::vision
