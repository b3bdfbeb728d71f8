// The fields of a card, listed once for all code that visits them.
#pragma once

#include <string>
#include <tuple>

#include <npuvision/model_card.hpp>

#include "value.hpp"

namespace npu::vision {

template <typename Type>
struct Field {
  const char* name;  ///< in JSON and in `origins`
  Type ModelCard::*member;
  double lowest = 0, highest = 0;            ///< range of a number
  std::size_t most = CardLimits::kChannels;  ///< longest list of numbers
};
template <typename Type, typename... Range>
Field(const char*, Type ModelCard::*, Range...) -> Field<Type>;

// clang-format off
inline constexpr auto kFields = std::make_tuple(
    Field{"task", &ModelCard::task},
    Field{"family", &ModelCard::family},
    Field{"architecture", &ModelCard::architecture},
    Field{"unknown", &ModelCard::unknown},
    Field{"labels", &ModelCard::labels},
    Field{"confidence_threshold", &ModelCard::confidence_threshold, 0.0, 1.0},
    Field{"iou_threshold", &ModelCard::iou_threshold, 0.0, 1.0},
    Field{"max_objects", &ModelCard::max_objects, 1.0, double{CardLimits::kObjects}},
    Field{"nms_execute", &ModelCard::suppresses},
    Field{"agnostic_nms", &ModelCard::agnostic},
    Field{"output", &ModelCard::output},
    Field{"channels_first", &ModelCard::channels_first},
    Field{"end_to_end", &ModelCard::end_to_end},
    Field{"multilabel", &ModelCard::multilabel},
    Field{"level_values", &ModelCard::level_values, 0.0, double{CardLimits::kLabels - 1}},
    Field{"exclusive_groups", &ModelCard::exclusive_groups, 1.0, double{CardLimits::kPairs}},
    Field{"level_parents", &ModelCard::level_parents, 0.0, double{CardLimits::kLabels - 1}},
    Field{"raw_scores", &ModelCard::raw_scores},
    Field{"anchors", &ModelCard::anchors, 1e-3, double{CardLimits::kPixels}, CardLimits::kAnchors},
    Field{"host_postprocess", &ModelCard::host_postprocess},
    Field{"host_classes", &ModelCard::host_classes, 1.0, double{CardLimits::kLabels}},
    Field{"host_detections", &ModelCard::host_detections, 1.0, double{CardLimits::kObjects}},
    Field{"host_iou_threshold", &ModelCard::host_iou_threshold, 0.0, 1.0},
    Field{"host_score_threshold", &ModelCard::host_score_threshold, 0.0, 1.0},
    Field{"host_box_scale", &ModelCard::host_box_scale, 1e-12, CardLimits::kAnyNumber},
    Field{"host_class_offset", &ModelCard::host_class_offset, 0.0, CardLimits::kAnyNumber},
    Field{"host_class_candidates", &ModelCard::host_class_candidates, 1.0, double{CardLimits::kObjects}},
    Field{"host_background", &ModelCard::host_background, 0.0, double{CardLimits::kLabels}},
    Field{"host_box_margin", &ModelCard::host_box_margin, 0.0, 1.0},
    Field{"host_gaussian_sigma", &ModelCard::host_gaussian_sigma, 0.0, CardLimits::kAnyNumber},
    Field{"host_lowest_score", &ModelCard::host_lowest_score, 0.0, 1.0},
    Field{"key_points", &ModelCard::key_points, 1.0, double{CardLimits::kKeyPoints}},
    Field{"key_point_values", &ModelCard::key_point_values, 2.0, 3.0},
    Field{"key_point_names", &ModelCard::key_point_names},
    Field{"skeleton", &ModelCard::skeleton, 0.0, double{CardLimits::kKeyPoints - 1}},
    Field{"characters", &ModelCard::characters},
    Field{"image_threshold", &ModelCard::image_threshold, -CardLimits::kAnyNumber, CardLimits::kAnyNumber},
    Field{"pixel_threshold", &ModelCard::pixel_threshold, -CardLimits::kAnyNumber, CardLimits::kAnyNumber},
    Field{"normalization_scale", &ModelCard::normalization_scale, 1e-30, CardLimits::kAnyNumber},
    Field{"unclip_ratio", &ModelCard::unclip_ratio, 0.0, 10.0},
    Field{"use_dilation", &ModelCard::use_dilation},
    Field{"resize", &ModelCard::resize},
    Field{"crop_share", &ModelCard::crop_share, CardLimits::kLeastCropShare, 1.0},
    Field{"pad_value", &ModelCard::pad_value, 0.0, 255.0},
    Field{"channels", &ModelCard::channels},
    Field{"mean", &ModelCard::mean, -CardLimits::kGreyLevels, CardLimits::kGreyLevels},
    Field{"scale", &ModelCard::scale, CardLimits::kSmallScale, CardLimits::kGreyLevels},
    Field{"input_width", &ModelCard::input_width, 1.0, double{CardLimits::kPixels}},
    Field{"input_height", &ModelCard::input_height, 1.0, double{CardLimits::kPixels}},
    Field{"inner_width", &ModelCard::inner_width, 1.0, double{CardLimits::kPixels}},
    Field{"inner_height", &ModelCard::inner_height, 1.0, double{CardLimits::kPixels}});
// clang-format on

template <typename Visit>
void for_each_field(const Visit& visit) {
  std::apply([&](const auto&... fields) { (visit(fields), ...); }, kFields);
}

inline bool is_said(Task task) {
  return task != Task::kUnknown;
}
inline bool is_said(Family family) {
  return family != Family::kAuto;
}
inline bool is_said(std::uint32_t count) {
  return count != 0;
}
template <typename Type>
bool is_said(const std::optional<Type>& value) {
  return value.has_value();
}
template <typename List>
bool is_said(const List& list) {
  return !list.empty();
}

/// Throws Error(kInvalidArgument) that names `place` and the key.
ModelCard card_from_json(const std::string& text, const std::string& place);

/// The card, with `origin` as the origin of every field that is set.
ModelCard signed_by(const std::string& origin, ModelCard card);

}  // namespace npu::vision
