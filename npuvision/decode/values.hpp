// Elements of tensors as floats, and the part of a model's map that shows the frame.
#pragma once

#include <cstddef>
#include <initializer_list>
#include <span>
#include <string>
#include <vector>

#include <npucore/frame.hpp>
#include <npuvision/answer.hpp>
#include <npuvision/tensor_view.hpp>

#include "contract.hpp"

namespace npu::vision {

bool is_whole(const TensorView& tensor);  ///< its type has whole numbers only

/// The element with this index.
const std::byte* element(const TensorView& tensor, std::initializer_list<std::size_t> index);
/// As many elements as `to` has, `stride_bytes` apart, of f32, f16 or a whole type of 8 bits and
/// more, as floats: whole numbers up to 2^24 exactly.
void read(const TensorView& tensor, const std::byte* from, std::size_t stride_bytes,
          std::span<float> to);
/// All elements, row after row.
void read_all(const TensorView& tensor, std::vector<float>* to);
/// Whether read() knows the type.
bool is_readable(const TensorView& tensor);

bool are_finite(std::span<const float> values);
/// Where they are not, and the answer is made of them all: it has nothing, and says so.
void leave_undefined(Answer* answer);

float sigmoid(float logit);
/// The logit with this sigmoid, for sorting out what is far below a threshold.
float logit(float probability);

/// Which of the outputs may be meant: the one that the card names, else all.
bool may_be_meant(const Found& found, const TensorView& output);
/// The place of the only output that fits, of those that may be meant; -1: none; -2: more than one.
int only_output(const Found& found, bool (*fits)(const Found& found, const TensorView& output));
/// The refusal where that found none, or more than one.
std::string why_none(int only);

/// Whether a map [..., height, width] can be one of the model's whole input: of its proportions, to
/// one row or column. True where the input is not known.
bool has_proportions(const TensorView& map, InputSize input);
/// How a refusal of one that has not begins.
inline constexpr const char* kOtherProportions =
    "has other proportions than the model's input, and a map covers that";

/// The values of a map that show the frame: what shows a letterbox' border is cut off.
struct Window {
  std::size_t left = 0, top = 0, width = 0, height = 0;
};
/// Of a map over the model's whole input; to whole values, at least one.
Window window_of(const npu::FrameGeometry& geometry, FrameSize frame, std::size_t map_width,
                 std::size_t map_height);
/// That part of the values as the answer's map.
void give_window(std::span<const float> values, std::size_t map_width, const Window& window,
                 Map<float>* map);

}  // namespace npu::vision
