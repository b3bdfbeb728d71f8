#include "classifier.hpp"

#include <algorithm>
#include <cmath>

#include <npucore/error.hpp>
#include <npuvision/labels.hpp>
#include <npuvision/scalar.hpp>

#include "detection_meta.hpp"

namespace gstnpu {

using npu::vision::find_model_info;
using npu::vision::Half;
using npu::vision::label_of;
using npu::vision::load;
using npu::vision::read_model_info;
namespace {

constexpr float kSumError = 0.01F;  // of probabilities in f16

/// The dimension with the classes.
std::size_t class_dim(const TensorView& tensor) {
  const auto first = tensor.dims.begin();
  return static_cast<std::size_t>(
      std::max_element(first, first + static_cast<std::ptrdiff_t>(tensor.rank)) - first);
}

std::vector<float> values_of(const TensorView& tensor) {
  const std::size_t dim = class_dim(tensor);
  const std::size_t count = tensor.dims[dim], stride = tensor.strides_bytes[dim];
  const bool is_half = tensor.type == npu::ElementType::kF16;
  const std::size_t element_bytes = is_half ? sizeof(Half) : sizeof(float);
  std::size_t reach = 0;
  if (__builtin_mul_overflow(count - 1, stride, &reach) || tensor.data == nullptr ||
      tensor.size_bytes < element_bytes || reach > tensor.size_bytes - element_bytes) {
    throw npu::Error(npu::ErrorCode::kInvalidArgument,
                     "tensor " + tensor.describe() + " does not fit into its memory of " +
                         std::to_string(tensor.size_bytes) + " bytes");
  }
  std::vector<float> values(count);
  for (std::size_t i = 0; i < count; ++i) {
    const std::byte* from = tensor.data + i * stride;
    values[i] = is_half ? load<Half>(from) : load<float>(from);
  }
  return values;
}

bool are_probabilities(const std::vector<float>& values) {
  float sum = 0;
  for (const float value : values) {
    if (value < 0 || value > 1) return false;
    sum += value;
  }
  return std::abs(sum - 1) <= kSumError;
}

/// The softmax of the largest value.
float softmax_of(float largest, const std::vector<float>& values) {
  double sum = 0;
  for (const float value : values) sum += std::exp(static_cast<double>(value) - largest);
  return static_cast<float>(1 / sum);
}

}  // namespace

bool looks_like_classes(const TensorView& tensor) {
  if (tensor.type != npu::ElementType::kF32 && tensor.type != npu::ElementType::kF16) return false;
  if (tensor.rank == 0) return false;
  const auto first = tensor.dims.begin(), end = first + static_cast<std::ptrdiff_t>(tensor.rank);
  return std::count(first, end, std::size_t{1}) + 1 == end - first &&
         tensor.dims[class_dim(tensor)] > 1;
}

std::optional<Classification> best_class(const TensorView& tensor) {
  const std::vector<float> values = values_of(tensor);
  const auto finite = [](float value) { return std::isfinite(value); };
  if (!std::all_of(values.begin(), values.end(), finite)) return std::nullopt;
  const auto best = std::max_element(values.begin(), values.end());
  return Classification{static_cast<std::uint32_t>(best - values.begin()),
                        are_probabilities(values) ? *best : softmax_of(*best, values)};
}

void RegionClassifier::configure(DetectorSettings settings) {
  settings_ = std::move(settings);
  described_ = false;
}

std::size_t RegionClassifier::classify(GstBuffer* buffer) {
  std::vector<InferredTensor> tensors = tensors_of(buffer);
  std::erase_if(tensors, [](const InferredTensor& one) {
    return !one.is_of_region() || one.meta->is_decoded;
  });
  std::size_t count = 0;
  for (auto first = tensors.begin(); first != tensors.end(); ++count) {
    const auto end = std::find_if(first, tensors.end(), [first](const InferredTensor& one) {
      return one.meta != first->meta;
    });
    describe_model(*first->meta);
    const TensorMapping mapping(find_tensor({first, end}));
    const auto found = best_class(mapping.view());
    if (found && found->confidence >= threshold_) {
      attach(buffer, *first->meta, *found);
    }
    first->meta->is_decoded = TRUE;
    first = end;
  }
  return count;
}

void RegionClassifier::attach(GstBuffer* buffer, const GstNpuInferenceMeta& meta,
                              const Classification& found) const {
  attach_classification(
      buffer, meta.object_id,
      {label_of(labels_, found.label_id), static_cast<int>(found.label_id), found.confidence});
}

void RegionClassifier::describe_model(const GstNpuInferenceMeta& meta) {
  const std::string model = text_or_empty(meta.model), labels = text_or_empty(meta.labels);
  if (described_ && model == model_ && labels == model_labels_) return;
  described_ = false;
  info_.reset();
  if (const auto path = model.empty() ? std::nullopt : find_model_info(model)) {
    info_ = read_model_info(*path);
  }
  const ModelInfoTensor* section = find_section();
  tensor_name_ = section ? section->name : settings_.tensor_name;
  threshold_ = settings_.threshold.value_or(
      section ? static_cast<float>(section->confidence_threshold.value_or(0)) : 0);
  labels_ = settings_.find_labels(section, labels);
  model_ = model;
  model_labels_ = labels;
  described_ = true;
}

/// The output that the user names, else the first with labels.
const ModelInfoTensor* RegionClassifier::find_section() const {
  if (!info_) return nullptr;
  if (!settings_.tensor_name.empty()) return info_->find_output(settings_.tensor_name);
  const auto has_labels = [](const ModelInfoTensor& tensor) {
    return !tensor.is_input && !tensor.labels.empty();
  };
  const auto found = std::find_if(info_->tensors.begin(), info_->tensors.end(), has_labels);
  return found == info_->tensors.end() ? nullptr : &*found;
}

/// By name, else the first that fits.
GstNpuTensor RegionClassifier::find_tensor(const std::vector<InferredTensor>& tensors) const {
  const InferredTensor* fitting = nullptr;
  for (const InferredTensor& one : tensors) {
    const TensorView view = view_of(one.tensor);
    if (!looks_like_classes(view)) continue;
    if (!tensor_name_.empty() && view.name == tensor_name_) return one.tensor;
    fitting = fitting ? fitting : &one;
  }
  if (fitting) return fitting->tensor;
  throw npu::Error(npu::ErrorCode::kInvalidArgument,
                   "none of the tensors of an object can be decoded: " + list_tensors(tensors) +
                       "; a classification is f32 or f16 with one value for each class, like "
                       "[1, classes]");
}

}  // namespace gstnpu
