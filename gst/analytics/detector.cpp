#include "detector.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include <npucore/error.hpp>

#include "labels.hpp"

namespace gstnpu {
namespace {

constexpr const char* kYoloId = "yolo-v8-out";  // of the tensor registry

npu::ElementType to_element_type(GstNpuDataType type) {
  switch (type) {
    case GST_NPU_DATA_BOOLEAN:
      return npu::ElementType::kBoolean;
    case GST_NPU_DATA_F16:
      return npu::ElementType::kF16;
    case GST_NPU_DATA_BF16:
      return npu::ElementType::kBF16;
    case GST_NPU_DATA_F32:
      return npu::ElementType::kF32;
    case GST_NPU_DATA_F64:
      return npu::ElementType::kF64;
    case GST_NPU_DATA_I8:
      return npu::ElementType::kI8;
    case GST_NPU_DATA_I16:
      return npu::ElementType::kI16;
    case GST_NPU_DATA_I32:
      return npu::ElementType::kI32;
    case GST_NPU_DATA_I64:
      return npu::ElementType::kI64;
    case GST_NPU_DATA_U8:
      return npu::ElementType::kU8;
    case GST_NPU_DATA_U16:
      return npu::ElementType::kU16;
    case GST_NPU_DATA_U32:
      return npu::ElementType::kU32;
    case GST_NPU_DATA_U64:
      return npu::ElementType::kU64;
    case GST_NPU_DATA_UNKNOWN:
      break;
  }
  return npu::ElementType::kUnknown;
}

// Without the data, which is there only while the memory is mapped.
TensorView view_of(const GstNpuTensor& tensor) {
  static_assert(TensorView::kMaxRank >= GST_NPU_MAX_DIMS);
  TensorView view;
  view.name = tensor.name != nullptr ? tensor.name : "";
  view.type = to_element_type(tensor.type);
  view.rank = tensor.num_dims;
  std::copy_n(tensor.dims, GST_NPU_MAX_DIMS, view.dims.begin());
  std::copy_n(tensor.strides, GST_NPU_MAX_DIMS, view.strides_bytes.begin());
  return view;
}

bool looks_like_yolo(const TensorView& view) {
  return (view.type == npu::ElementType::kF32 || view.type == npu::ElementType::kF16) &&
         view.rank == 3 && view.dims[0] == 1 &&
         std::max(view.dims[1], view.dims[2]) > YoloTensor::kBoxChannels;
}

class ReadMap {
 public:
  explicit ReadMap(GstMemory* memory) : memory_(memory) {
    if (memory == nullptr || !gst_memory_map(memory, &info_, GST_MAP_READ)) {
      throw npu::Error(npu::ErrorCode::kIo,
                       "the memory of the tensor cannot be mapped for reading");
    }
  }
  ~ReadMap() { gst_memory_unmap(memory_, &info_); }
  ReadMap(const ReadMap&) = delete;
  ReadMap& operator=(const ReadMap&) = delete;

  const std::byte* data() const { return reinterpret_cast<const std::byte*>(info_.data); }
  std::size_t size_bytes() const { return info_.size; }

 private:
  GstMemory* memory_;
  GstMapInfo info_{};
};

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

std::string list_tensors(GstBuffer* buffer) {
  std::string text;
  GstNpuTensor tensor;
  for (guint i = 0; gst_npu_buffer_get_tensor(buffer, i, &tensor); ++i) {
    text += (i > 0 ? ", " : "") + view_of(tensor).describe();
  }
  return text;
}

std::string text_or_empty(const gchar* text) {
  return text != nullptr ? text : "";
}

}  // namespace

void Detector::configure(DetectorSettings settings) {
  settings_ = std::move(settings);
  described_ = false;
}

std::optional<std::span<const Detection>> Detector::detect(GstBuffer* buffer, FrameSize frame) {
  if (gst_npu_buffer_get_num_tensors(buffer) == 0) return std::nullopt;
  const GstNpuInferenceMeta* meta = gst_buffer_get_npu_inference_meta(buffer);
  describe_model(meta);
  const GstNpuTensor tensor = find_tensor(buffer);
  const ReadMap map(tensor.memory);
  TensorView view = view_of(tensor);
  view.data = map.data();
  view.size_bytes = map.size_bytes();
  YoloLayout layout = settings_.layout;
  if (layout == YoloLayout::kAuto && section_ != nullptr && section_->is_column_major) {
    layout = YoloLayout::kChannelsFirst;
  }
  const YoloTensor yolo = as_yolo_tensor(view, layout, labels_.size());
  compare_labels(yolo);
  return decoder_.decode(yolo, geometry_of(meta), frame, options_);
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
  labels_ = find_labels(model_labels);
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

std::vector<std::string> Detector::find_labels(const std::string& model_labels) const {
  if (!settings_.labels.empty()) return split_labels(settings_.labels, ',');
  if (!settings_.labels_file.empty()) return read_labels_file(settings_.labels_file);
  if (section_ != nullptr && !section_->labels.empty()) return section_->labels;
  return split_labels(model_labels, ' ');
}

// By name where one is known, else the first that can be a YOLO output. A lone tensor is always
// taken: what is wrong with it is then said in its own words.
GstNpuTensor Detector::find_tensor(GstBuffer* buffer) const {
  std::string name = settings_.tensor_name;
  if (name.empty() && section_ != nullptr) {
    name = section_->name;
  }
  std::optional<GstNpuTensor> fitting;
  GstNpuTensor tensor;
  guint count = 0;
  for (; gst_npu_buffer_get_tensor(buffer, count, &tensor); ++count) {
    const TensorView view = view_of(tensor);
    if (!name.empty() && view.name == name) return tensor;
    if (!fitting && looks_like_yolo(view)) {
      fitting = tensor;
    }
  }
  if (!settings_.tensor_name.empty()) {
    throw npu::Error(
        npu::ErrorCode::kInvalidArgument,
        "no tensor is named \"" + name + "\": set tensor-name to one of " + list_tensors(buffer));
  }
  if (fitting) return *fitting;
  if (count == 1 && gst_npu_buffer_get_tensor(buffer, 0, &tensor)) return tensor;
  throw npu::Error(
      npu::ErrorCode::kInvalidArgument,
      "none of the tensors can be decoded: " + list_tensors(buffer) + "; " + kYoloExpectation);
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
