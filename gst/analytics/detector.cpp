#include "detector.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include <npucore/error.hpp>
#include <npuvision/labels.hpp>

namespace gstnpu {

using npu::vision::as_yolo_tensor;
using npu::vision::find_model_info;
using npu::vision::kYoloExpectation;
using npu::vision::read_labels_file;
using npu::vision::read_model_info;
using npu::vision::split_labels;
namespace {

constexpr const char* kYoloId = "yolo-v8-out";  // of the tensor registry

bool looks_like_yolo(const TensorView& view) {
  return (view.type == npu::ElementType::kF32 || view.type == npu::ElementType::kF16) &&
         view.rank == 3 && view.dims[0] == 1 &&
         std::max(view.dims[1], view.dims[2]) > YoloTensor::kBoxChannels;
}

// Without the meta the tensor is taken to describe the frame's own pixels.
npu::FrameGeometry geometry_of(const GstNpuInferenceMeta* meta) {
  if (meta == nullptr) return {};
  const npu::FrameGeometry geometry{.model_width = meta->model_width,
                                    .model_height = meta->model_height,
                                    .offset_x = meta->offset_x,
                                    .offset_y = meta->offset_y,
                                    .scale_x = meta->scale_x,
                                    .scale_y = meta->scale_y};
  const double numbers[] = {geometry.offset_x, geometry.offset_y, geometry.scale_x,
                            geometry.scale_y};
  const bool finite = std::all_of(std::begin(numbers), std::end(numbers),
                                  [](double number) { return std::isfinite(number); });
  if (finite && geometry.scale_x > 0 && geometry.scale_y > 0) return geometry;
  std::array<char, G_ASCII_DTOSTR_BUF_SIZE> x = {}, y = {};
  throw npu::Error(
      npu::ErrorCode::kInvalidArgument,
      std::string("the frame's inference meta maps no model pixel to the frame: scale ") +
          g_ascii_dtostr(x.data(), x.size(), meta->scale_x) + " x " +
          g_ascii_dtostr(y.data(), y.size(), meta->scale_y));
}

}  // namespace

std::vector<std::string> DetectorSettings::find_labels(const ModelInfoTensor* section,
                                                       const std::string& model_labels) const {
  if (!labels.empty()) return split_labels(labels, ',');
  if (!labels_file.empty()) return read_labels_file(labels_file);
  if (section != nullptr && !section->labels.empty()) return section->labels;
  return split_labels(model_labels, ' ');
}

void Detector::configure(DetectorSettings settings) {
  settings_ = std::move(settings);
  described_ = false;
}

/// Of whole frames. An inference that an element upstream has decoded is left alone, unless the
/// user names an output of it; where the name is one of an object's, all are.
std::vector<InferredTensor> Detector::candidates_of(GstBuffer* buffer) const {
  std::vector<InferredTensor> tensors = tensors_of(buffer);
  const auto is_named = [&name = settings_.tensor_name](const InferredTensor& one) {
    return !name.empty() && view_of(one.tensor).name == name;
  };
  const bool names_object = std::any_of(tensors.begin(), tensors.end(), [&](const auto& one) {
    return one.is_of_region() && is_named(one);
  });
  std::erase_if(tensors, [&](const InferredTensor& one) {
    const bool is_left_alone = names_object || (one.meta && one.meta->is_decoded);
    return one.is_of_region() || (is_left_alone && !is_named(one));
  });
  return tensors;
}

std::optional<std::span<const Detection>> Detector::detect(GstBuffer* buffer, FrameSize frame) {
  std::vector<InferredTensor> candidates = candidates_of(buffer);
  if (candidates.empty()) return std::nullopt;
  GstNpuInferenceMeta* meta = choose_inference(candidates);
  describe_model(meta);
  std::erase_if(candidates, [meta](const InferredTensor& one) { return one.meta != meta; });
  const TensorMapping mapping(find_tensor(candidates));
  YoloLayout layout = settings_.layout;
  if (layout == YoloLayout::kAuto && section_ != nullptr && section_->is_column_major) {
    layout = YoloLayout::kChannelsFirst;
  }
  const YoloTensor yolo = as_yolo_tensor(mapping.view(), layout, labels_.size());
  compare_labels(yolo);
  const auto detections = decoder_.decode(yolo, geometry_of(meta), frame, options_);
  if (meta) {
    meta->is_decoded = TRUE;
  }
  return detections;
}

/// The one with the tensor of the user's choice, else the first with what can be a YOLO output,
/// else the first.
GstNpuInferenceMeta* Detector::choose_inference(
    const std::vector<InferredTensor>& candidates) const {
  const std::string& name = settings_.tensor_name;
  const auto chosen =
      std::find_if(candidates.begin(), candidates.end(), [&name](const InferredTensor& one) {
        const TensorView view = view_of(one.tensor);
        return name.empty() ? looks_like_yolo(view) : view.name == name;
      });
  if (chosen != candidates.end()) return chosen->meta;
  if (name.empty()) return candidates.front().meta;
  throw npu::Error(
      npu::ErrorCode::kInvalidArgument,
      "no tensor is named \"" + name + "\": set tensor-name to one of " + list_tensors(candidates));
}

std::string Detector::take_warning() {
  return std::exchange(warning_, {});
}

void Detector::describe_model(const GstNpuInferenceMeta* meta) {
  const std::string model = meta != nullptr ? text_or_empty(meta->model) : "";
  const std::string model_labels = meta != nullptr ? text_or_empty(meta->labels) : "";
  if (described_ && model == model_ && model_labels == model_labels_) return;
  described_ = false;
  info_.reset();
  section_ = nullptr;
  if (!model.empty()) {
    if (const auto path = find_model_info(model)) {
      info_ = read_model_info(*path);
    }
  }
  find_section();
  labels_ = settings_.find_labels(section_, model_labels);
  const YoloOptions defaults;
  const auto from_section = [&](std::optional<double> ModelInfoTensor::*key, float fallback) {
    return section_ != nullptr ? static_cast<float>((section_->*key).value_or(fallback)) : fallback;
  };
  options_.threshold = settings_.threshold.value_or(
      from_section(&ModelInfoTensor::confidence_threshold, defaults.threshold));
  options_.iou_threshold = settings_.iou_threshold.value_or(
      from_section(&ModelInfoTensor::iou_threshold, defaults.iou_threshold));
  options_.max_detections = settings_.max_detections;
  compared_labels_ = false;
  model_ = model;
  model_labels_ = model_labels;
  described_ = true;
}

void Detector::find_section() {
  if (!info_) return;
  section_ = settings_.tensor_name.empty() ? info_->find_output_by_id(kYoloId)
                                           : info_->find_output(settings_.tensor_name);
  if (section_ != nullptr || !settings_.tensor_name.empty()) return;
  const auto is_output = [](const ModelInfoTensor& tensor) { return !tensor.is_input; };
  if (std::count_if(info_->tensors.begin(), info_->tensors.end(), is_output) == 1) {
    section_ = &*std::find_if(info_->tensors.begin(), info_->tensors.end(), is_output);
  }
}

// By name where one is known, else the first that can be a YOLO output. A lone tensor is always
// taken: what is wrong with it is then said in its own words.
GstNpuTensor Detector::find_tensor(const std::vector<InferredTensor>& candidates) const {
  std::string name = settings_.tensor_name;
  if (name.empty() && section_ != nullptr) {
    name = section_->name;
  }
  const GstNpuTensor* fitting = nullptr;
  for (const InferredTensor& one : candidates) {
    const TensorView view = view_of(one.tensor);
    if (!name.empty() && view.name == name) return one.tensor;
    if (!fitting && looks_like_yolo(view)) {
      fitting = &one.tensor;
    }
  }
  if (fitting) return *fitting;
  if (candidates.size() == 1) return candidates.front().tensor;
  throw npu::Error(
      npu::ErrorCode::kInvalidArgument,
      "none of the tensors can be decoded: " + list_tensors(candidates) + "; " + kYoloExpectation);
}

void Detector::compare_labels(const YoloTensor& tensor) {
  if (compared_labels_ || tensor.is_end_to_end || labels_.empty()) return;
  const bool are_the_users = !settings_.labels.empty() || !settings_.labels_file.empty();
  if (!are_the_users && labels_.size() < tensor.classes) {
    throw npu::Error(
        npu::ErrorCode::kInvalidArgument,
        "each box has " + std::to_string(tensor.classes) +
            " values beside the four of its place, but the model names " +
            std::to_string(labels_.size()) +
            " classes: the others are no scores (key points, masks or an angle), which "
            "are not decoded; where they are, set labels to all class names");
  }
  compared_labels_ = true;
  if (labels_.size() == tensor.classes) return;
  warning_ = "the model has " + std::to_string(tensor.classes) + " classes, but there are " +
             std::to_string(labels_.size()) +
             " labels: a class without a label is called by its number";
}

}  // namespace gstnpu
