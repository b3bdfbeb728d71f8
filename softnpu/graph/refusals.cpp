#include "refusals.hpp"

#include <algorithm>
#include <openvino/op/convolution.hpp>

#include "base/failure.hpp"

namespace softnpu {
namespace {

constexpr std::size_t kSpatial =
    2;  // behind batch and channels, or the filter's outputs and inputs

template <class Condition>
bool any_spatial(const ov::PartialShape& shape, Condition condition) {
  if (shape.rank().is_dynamic()) return true;
  return std::any_of(shape.begin() + kSpatial, shape.end(), condition);
}

bool is_stuck(const ov::op::v1::Convolution& convolution) {
  const auto& strides = convolution.get_strides();
  if (convolution.get_auto_pad() != ov::op::PadType::SAME_UPPER ||
      std::all_of(strides.begin(), strides.end(), [](std::size_t stride) { return stride == 1; })) {
    return false;
  }
  const bool of_single_elements =
      !any_spatial(convolution.get_input_partial_shape(1),
                   [](const ov::Dimension& size) { return size != ov::Dimension(1); });
  return of_single_elements ||
         any_spatial(convolution.get_input_partial_shape(0),
                     [](const ov::Dimension& size) { return size.is_dynamic(); });
}

}  // namespace

void check_auto_pads(const ov::Model& model) {
  for (const auto& node : model.get_ordered_ops()) {
    const auto* const convolution = ov::as_type<const ov::op::v1::Convolution>(node.get());
    if (convolution == nullptr || !is_stuck(*convolution)) continue;
    throw Failure(ZE_RESULT_ERROR_INVALID_ARGUMENT,
                  "compiler: Convolution '" + node->get_friendly_name() +
                      "' uses auto_pad=SAME_UPPER that cannot be converted to explicit pads: it "
                      "has strides, and a filter of single elements or a size that varies");
  }
}

bool is_refused(const ov::Node& layer, const Refusal& refusal) {
  return !refusal.layer.empty() &&
         (layer.get_friendly_name() == refusal.layer || layer.get_type_name() == refusal.layer);
}

void check_layers(const ov::Model& model, const Refusal& refusal) {
  const auto layers = model.get_ordered_ops();
  const bool any = std::any_of(layers.begin(), layers.end(),
                               [&](const auto& layer) { return is_refused(*layer, refusal); });
  if (any) throw Failure(ZE_RESULT_ERROR_INVALID_ARGUMENT, "Bad optional access");
}

}  // namespace softnpu
