#include "interpreter.hpp"

#include <algorithm>
#include <cmath>
#include <openvino/core/graph_util.hpp>
#include <openvino/op/convolution.hpp>
#include <openvino/op/fake_quantize.hpp>
#include <openvino/op/group_conv.hpp>
#include <openvino/op/op.hpp>
#include <stdexcept>

namespace npu::test {
namespace {

/// An operation on f32 that the interpreter lets compute itself.
class Computed : public ov::op::Op {
 public:
  explicit Computed(const std::shared_ptr<ov::Node>& node)
      : Op(node->input_values()), shape_(node->get_output_shape(0)) {
    if (node->get_output_element_type(0) != ov::element::f32) {
      throw std::runtime_error(node->get_friendly_name() + " is not f32");
    }
    constructor_validate_and_infer_types();
  }
  void validate_and_infer_types() override { set_output_type(0, ov::element::f32, shape_); }
  std::shared_ptr<ov::Node> clone_with_new_inputs(const ov::OutputVector&) const override {
    throw std::logic_error("an interpreted model is not copied");
  }
  bool has_evaluate() const override { return true; }

 private:
  ov::Shape shape_;
};

/// A convolution of 2 dimensions, with one group or several, as its definition says.
class InterpretedConvolution : public Computed {
 public:
  OPENVINO_OP("InterpretedConvolution", "test");

  template <class Convolution>
  InterpretedConvolution(const std::shared_ptr<Convolution>& node, bool has_groups)
      : Computed(node),
        strides_(node->get_strides()),
        pads_(node->get_pads_begin()),
        has_groups_(has_groups) {
    const auto& dilations = node->get_dilations();
    if (strides_.size() != 2 || dilations != ov::Strides(2, 1)) {
      throw std::runtime_error(node->get_friendly_name() + " is not interpreted");
    }
  }

  bool evaluate(ov::TensorVector& outputs, const ov::TensorVector& inputs) const override {
    const auto& in = inputs[0].get_shape();
    auto filter = inputs[1].get_shape();  // [groups,] out, in, height, width
    const std::size_t groups = has_groups_ ? filter.front() : 1;
    if (has_groups_) {
      filter.erase(filter.begin());
    }
    const auto& out = outputs[0].get_shape();
    const auto* const x = inputs[0].data<const float>();
    const auto* const w = inputs[1].data<const float>();
    auto* y = outputs[0].data<float>();
    for (std::size_t n = 0; n < out[0]; ++n) {
      for (std::size_t channel = 0; channel < out[1]; ++channel) {
        const std::size_t first = channel / (out[1] / groups) * filter[1];
        const auto* const taps = w + channel * filter[1] * filter[2] * filter[3];
        for (std::size_t row = 0; row < out[2]; ++row) {
          for (std::size_t column = 0; column < out[3]; ++column) {
            *y++ = sum(x + (n * in[1] + first) * in[2] * in[3], in, taps, filter, row, column);
          }
        }
      }
    }
    return true;
  }

 private:
  float sum(const float* x, const ov::Shape& in, const float* taps, const ov::Shape& filter,
            std::size_t row, std::size_t column) const {
    double sum = 0;
    for (std::size_t c = 0; c < filter[1]; ++c) {
      for (std::size_t v = 0; v < filter[2]; ++v) {
        const auto at_y = static_cast<std::ptrdiff_t>(row * strides_[0] + v) - pads_[0];
        for (std::size_t h = 0; h < filter[3]; ++h, ++taps) {
          const auto at_x = static_cast<std::ptrdiff_t>(column * strides_[1] + h) - pads_[1];
          const bool outside = at_y < 0 || at_x < 0 || at_y >= static_cast<std::ptrdiff_t>(in[2]) ||
                               at_x >= static_cast<std::ptrdiff_t>(in[3]);
          if (outside) continue;
          const auto at =
              (c * in[2] + static_cast<std::size_t>(at_y)) * in[3] + static_cast<std::size_t>(at_x);
          sum += static_cast<double>(x[at]) * static_cast<double>(*taps);
        }
      }
    }
    return static_cast<float>(sum);
  }

  ov::Strides strides_;
  ov::CoordinateDiff pads_;
  bool has_groups_;
};

/// Quantises all values with the same ranges.
class InterpretedFakeQuantize : public Computed {
 public:
  OPENVINO_OP("InterpretedFakeQuantize", "test");

  explicit InterpretedFakeQuantize(const std::shared_ptr<ov::op::v0::FakeQuantize>& node)
      : Computed(node), steps_(static_cast<double>(node->get_levels() - 1)) {}

  bool evaluate(ov::TensorVector& outputs, const ov::TensorVector& inputs) const override {
    double range[4];
    for (std::size_t i = 0; i < 4; ++i) {
      if (inputs[i + 1].get_size() != 1) return false;
      range[i] = static_cast<double>(*inputs[i + 1].data<const float>());
    }
    const auto [in_low, in_high, out_low, out_high] = range;
    const auto* const values = inputs[0].data<const float>();
    std::transform(
        values, values + inputs[0].get_size(), outputs[0].data<float>(), [&](float value) {
          const double x = std::clamp(static_cast<double>(value), in_low, in_high);
          const double level = std::nearbyint((x - in_low) / (in_high - in_low) * steps_);
          return static_cast<float>(level / steps_ * (out_high - out_low) + out_low);
        });
    return true;
  }

 private:
  double steps_;
};

std::shared_ptr<ov::Node> interpreted(const std::shared_ptr<ov::Node>& node) {
  if (const auto one = ov::as_type_ptr<ov::op::v1::Convolution>(node)) {
    return std::make_shared<InterpretedConvolution>(one, false);
  }
  if (const auto one = ov::as_type_ptr<ov::op::v1::GroupConvolution>(node)) {
    return std::make_shared<InterpretedConvolution>(one, true);
  }
  if (const auto one = ov::as_type_ptr<ov::op::v0::FakeQuantize>(node)) {
    return std::make_shared<InterpretedFakeQuantize>(one);
  }
  return nullptr;
}

}  // namespace

void make_interpretable(const std::shared_ptr<ov::Model>& model) {
  for (const auto& node : model->get_ordered_ops()) {
    if (const auto other = interpreted(node)) {
      ov::replace_node(node, other);
    }
  }
}

}  // namespace npu::test
