#include "contract.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>

#include <npucore/error.hpp>

namespace npu::vision {
namespace {

// A decoder may keep a view longer than the borrowed name lives.
TensorView named(TensorView view, std::string_view name) {
  view.name = name;
  return view;
}

// Each element must have bytes of its own: with strides of zero a few bytes would pass for any
// number of elements.
bool lies_inside(const TensorView& tensor) {
  std::size_t end = bit_width(tensor.type) / 8, bytes = end;
  for (std::size_t i = 0; i < tensor.rank; ++i) {
    std::size_t span = 0;
    if (tensor.dims[i] == 0) return true;
    if (__builtin_mul_overflow(bytes, tensor.dims[i], &bytes)) return false;
    if (__builtin_mul_overflow(tensor.dims[i] - 1, tensor.strides_bytes[i], &span)) return false;
    if (__builtin_add_overflow(end, span, &end)) return false;
  }
  end = std::max(end, bytes);
  return tensor.data != nullptr && tensor.size_bytes >= end;
}

}  // namespace

bool Contract::serves(Task task) const {
  return std::find(tasks.begin(), tasks.end(), task) != tasks.end();
}

std::string describe(std::span<const TensorView> outputs) {
  std::string text;
  for (const TensorView& output : outputs) {
    text += (text.empty() ? "" : ", ") + output.describe();
  }
  return text;
}

bool is_float(const TensorView& tensor) {
  return tensor.type == ElementType::kF32 || tensor.type == ElementType::kF16;
}

bool has_shape(const TensorView& tensor, std::initializer_list<std::size_t> dims) {
  return tensor.rank == dims.size() && std::equal(dims.begin(), dims.end(), tensor.dims.begin(),
                                                  [](std::size_t wanted, std::size_t dim) {
                                                    return wanted == 0 ? dim > 0 : wanted == dim;
                                                  });
}

void check_memory(const TensorView& tensor, const TensorView& made_for) {
  const auto rank = static_cast<std::ptrdiff_t>(made_for.rank);
  if (tensor.type != made_for.type || tensor.rank != made_for.rank ||
      !std::equal(tensor.dims.begin(), tensor.dims.begin() + rank, made_for.dims.begin())) {
    throw Error(ErrorCode::kInvalidArgument, "tensor " + tensor.describe() +
                                                 " came where the model has " +
                                                 named(made_for, tensor.name).describe());
  }
  if (!lies_inside(tensor)) {
    throw Error(ErrorCode::kInvalidArgument, "tensor " + tensor.describe() +
                                                 " does not fit into its memory of " +
                                                 std::to_string(tensor.size_bytes) + " bytes");
  }
}

const TensorView& checked_output(std::span<const TensorView> outputs, std::size_t index,
                                 const TensorView& made_for) {
  if (index >= outputs.size()) {
    throw Error(ErrorCode::kInvalidArgument, "the model has an output " +
                                                 named(made_for, "").describe() +
                                                 ", but the frame came without it");
  }
  check_memory(outputs[index], made_for);
  return outputs[index];
}

void refuse_value(const char* what, float value, const char* should) {
  std::array<char, 32> text = {};
  const auto end = std::to_chars(text.data(), text.data() + text.size(), value).ptr;
  throw Error(ErrorCode::kInvalidArgument,
              std::string("the output has the ") + what + " " + std::string(text.data(), end) +
                  ", which is no " + should +
                  ": it is of another kind than the model's card and its shape say; set "
                  "model-family, model-task or tensor-name, or correct the model's description");
}

float probability(float score) {
  constexpr float kRounding = 1e-3F;  // of f16 values
  if (score > 1 + kRounding || score < -kRounding) {
    refuse_value("score", score, "probability");
  }
  return std::clamp(score, 0.0F, 1.0F);
}

std::uint32_t class_of(float label, std::size_t classes) {
  constexpr float kMost = 1 << 20;
  const bool is_class = label >= 0 && label < (classes > 0 ? static_cast<float>(classes) : kMost) &&
                        label == std::floor(label);
  if (!is_class) {
    refuse_value("class", label, "class of the model");
  }
  return static_cast<std::uint32_t>(label);
}

}  // namespace npu::vision
