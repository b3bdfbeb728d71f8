#include <algorithm>
#include <optional>

#include <npuvision/labels.hpp>

#include "sources.hpp"

namespace npu::vision {
namespace {

struct ModelType {
  const char* name;  ///< in lower case
  Task task;
  Family family;
  std::optional<bool> end_to_end = std::nullopt;
};
// "YOLO" decides nothing: Ultralytics writes it for every task. The Model API's YOLOv5 is also
// Ultralytics' own.
constexpr ModelType kModelTypes[] = {
    {"ssd", Task::kDetect, Family::kSsd},
    {"classification", Task::kClassify, Family::kClassification},
    {"segmentation", Task::kSemantic, Family::kSegmentation},
    {"keypoint_detection", Task::kKeyPoints, Family::kSimcc},
    {"anomalydetection", Task::kAnomaly, Family::kAnomaly},
    {"maskrcnn", Task::kSegment, Family::kMaskRcnn},
    {"yolov5", Task::kDetect, Family::kYolo},
    {"yolov8", Task::kDetect, Family::kYolo},
    {"yolo11", Task::kDetect, Family::kYolo},
    {"yolo-seg", Task::kSegment, Family::kYolo},
    {"yolox", Task::kDetect, Family::kYoloX},
    // Rows of six like YOLO's, but with centre and size from 0 to 1: no known family.
    {"yolodetr", Task::kDetect, Family::kAuto, false},
};

void read_type(const Value& root, ModelCard* card) {
  const auto value = root.find("model_type");
  if (!value) return;
  const std::string name = lower(value->text());
  const auto found = std::find_if(std::begin(kModelTypes), std::end(kModelTypes),
                                  [&](const ModelType& one) { return name == one.name; });
  if (found == std::end(kModelTypes)) return;
  card->task = found->task;
  card->family = found->family;
  card->end_to_end = found->end_to_end;
}

bool is_true(const Value& root, const char* key) {
  const auto value = root.find(key);
  return value && value->flag();
}

/// Reads classes of several levels, each with its own softmax. Where the levels are not known, the
/// card stays empty: one softmax over all of them would look like an answer.
void read_hierarchical(const Value& root, const std::string& place, ModelCard* card) {
  const auto levels = root.find("hierarchical_config");
  if (!levels || is_true(root, "multilabel")) return;
  read_type(root, card);
  if (card->task == Task::kClassify) {
    read_levels(levels->text(), place + ", hierarchical_config", card);
  } else {
    card->task = Task::kUnknown;
    card->family = Family::kAuto;
  }
}

void read_spaced_labels(const Value& root, ModelCard* card) {
  const auto labels = root.find("labels");
  if (!labels) return;
  card->labels = split_labels(labels->text(), ' ');
  if (card->labels.size() > CardLimits::kLabels) {
    labels->refuse("has more than " + std::to_string(CardLimits::kLabels) + " entries");
  }
}

void read_number(const Value& root, const char* key, double lowest, double highest,
                 std::optional<float>* to) {
  if (const auto value = root.find(key)) {
    *to = static_cast<float>(value->number(lowest, highest));
  }
}

void read_thresholds(const Value& root, ModelCard* card) {
  read_number(root, "confidence_threshold", 0, 1, &card->confidence_threshold);
  read_number(root, "iou_threshold", 0, 1, &card->iou_threshold);
  constexpr double kAny = CardLimits::kAnyNumber;
  read_number(root, "image_threshold", -kAny, kAny, &card->image_threshold);
  read_number(root, "pixel_threshold", -kAny, kAny, &card->pixel_threshold);
  read_number(root, "normalization_scale", 1e-30, kAny, &card->normalization_scale);
  if (const auto most = root.find("nms_max_predictions")) {
    const std::uint32_t said = most->whole(0, CardLimits::kObjects);
    card->max_objects = said == 0 ? CardLimits::kObjects : said;  // 0: no limit
  }
  if (const auto suppresses = root.find("nms_execute")) {
    card->suppresses = suppresses->flag();
  }
  if (const auto agnostic = root.find("agnostic_nms")) {
    card->agnostic = agnostic->flag();
  }
  if (const auto multilabel = root.find("multilabel")) {
    card->multilabel = multilabel->flag();
  }
}

/// Whether the answer is a single class, which the Model API gives however low its score is.
bool takes_the_best(const ModelCard& card) {
  return card.task == Task::kClassify && !card.multilabel.value_or(false) &&
         card.level_values.empty();
}

/// Reads what Model::repair() wrote.
void read_host_postprocess(const Value& root, ModelCard* card) {
  const auto step = root.find("host_postprocess");
  if (!step) return;
  card->host_postprocess = step->text();
  if (const auto classes = root.find("host_classes")) {
    card->host_classes = classes->whole(1, CardLimits::kLabels);
  }
  if (const auto most = root.find("host_detections")) {
    card->host_detections = most->whole(1, CardLimits::kObjects);
  }
  read_number(root, "host_iou_threshold", 0, 1, &card->host_iou_threshold);
  read_number(root, "host_score_threshold", 0, 1, &card->host_score_threshold);
  read_number(root, "host_box_scale", 1e-12, CardLimits::kAnyNumber, &card->host_box_scale);
  read_number(root, "host_class_offset", 0, CardLimits::kAnyNumber, &card->host_class_offset);
  if (const auto most = root.find("host_class_candidates")) {
    card->host_class_candidates = most->whole(1, CardLimits::kObjects);
  }
  if (const auto background = root.find("host_background")) {
    card->host_background = background->whole(0, CardLimits::kLabels);
  }
  read_number(root, "host_box_margin", 0, 1, &card->host_box_margin);
  read_number(root, "host_gaussian_sigma", 0, CardLimits::kAnyNumber, &card->host_gaussian_sigma);
  read_number(root, "host_lowest_score", 0, 1, &card->host_lowest_score);
}

/// Reads a list as npucore does for Model::default_preprocess().
std::vector<float> read_list(const Value& root, const char* key, double lowest, double highest) {
  const auto value = root.find(key);
  if (!value) return {};
  return value->numbers_in_text(lowest, highest, CardLimits::kChannels);
}

/// Reads the same keys as Model::default_preprocess().
void read_preprocess(const Value& root, ModelCard* card) {
  if (const auto resize = root.find("resize_type")) {
    const std::string type = resize->text();
    card->resize = type == "fit_to_window_letterbox" ? ResizeMode::kLetterbox
                   : type == "fit_to_window"         ? ResizeMode::kFitToWindow
                   : type == "crop"                  ? ResizeMode::kCrop
                                                     : ResizeMode::kStretch;
    card->pad_value = 0.0F;
  }
  if (const auto pad = read_list(root, "pad_value", 0, 255); !pad.empty()) {
    card->pad_value = pad.front();
  }
  if (const auto reverse = root.find("reverse_input_channels")) {
    card->channels = reverse->flag() ? ChannelOrder::kRGB : ChannelOrder::kBGR;
  }
  card->mean = read_list(root, "mean_values", -CardLimits::kGreyLevels, CardLimits::kGreyLevels);
  card->scale = read_list(root, "scale_values", CardLimits::kSmallScale, CardLimits::kGreyLevels);
  if (const auto width = root.find("orig_width")) {
    card->input_width = width->whole(1, CardLimits::kPixels);
  }
  if (const auto height = root.find("orig_height")) {
    card->input_height = height->whole(1, CardLimits::kPixels);
  }
}

}  // namespace

ModelCard card_of_model_api(const std::map<std::string, std::string>& info,
                            const std::string& place) {
  const Tree tree = info;
  const Value root(tree, Value::Scalars::kText, place);
  ModelCard card;
  if (is_true(root, "hierarchical")) {
    read_hierarchical(root, place, &card);
  } else {
    read_type(root, &card);
    read_spaced_labels(root, &card);
  }
  read_thresholds(root, &card);
  if (takes_the_best(card)) {
    card.confidence_threshold.reset();
  }
  read_preprocess(root, &card);
  read_host_postprocess(root, &card);
  return card;
}

}  // namespace npu::vision
