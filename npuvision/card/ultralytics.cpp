#include <algorithm>
#include <array>
#include <initializer_list>
#include <string_view>

#include "sources.hpp"

namespace npu::vision {
namespace {

constexpr const char* kLiterals[] = {"args", "end2end", "imgsz", "kpt_names", "kpt_shape", "names"};

/// Parses Python literals such as "{0: 'person'}" and "[640, 640]", which are YAML too.
void unfold_literals(Tree& root, const std::string& place) {
  for (const char* key : kLiterals) {
    if (!root.is_object() || !root.contains(key) || !root[key].is_string()) continue;
    root[key] = parse_yaml(root[key].get<std::string>(), place + ": " + key);
  }
}

struct TaskName {
  const char* name;
  Task task;
};
constexpr TaskName kTaskNames[] = {{"detect", Task::kDetect},     {"segment", Task::kSegment},
                                   {"pose", Task::kPose},         {"obb", Task::kOriented},
                                   {"classify", Task::kClassify}, {"semantic", Task::kSemantic},
                                   {"depth", Task::kDepth}};

/// Those of version 8.4, without a number at the end, as Pose26 has it.
constexpr std::array<std::string_view, 13> kHeads = {
    "Detect",      "Segment",      "Pose",           "OBB",           "Classify",
    "Depth",       "v10Detect",    "LRPCHead",       "RTDETRDecoder", "WorldDetect",
    "YOLOEDetect", "YOLOESegment", "SemanticSegment"};

bool is_known_head(std::string_view name) {
  while (!name.empty() && name.back() >= '0' && name.back() <= '9') name.remove_suffix(1);
  return std::find(kHeads.begin(), kHeads.end(), name) != kHeads.end();
}

Task task_of(const std::string& name) {
  const auto found = std::find_if(std::begin(kTaskNames), std::end(kTaskNames),
                                  [&](const TaskName& one) { return name == one.name; });
  return found == std::end(kTaskNames) ? Task::kUnknown : found->task;
}

bool describes(const Value& root, std::initializer_list<const char*> names) {
  const auto description = root.find("description");
  std::string text = description ? description->text() : "";
  text.erase(std::min(text.find(" model"), text.size()));  // behind that is a path of the user's
  return std::any_of(names.begin(), names.end(),
                     [&](const char* name) { return text.find(name) != std::string::npos; });
}

/// RT-DETR and YOLO-NAS are also exported with the task detect.
bool is_rt_detr(const Value& root) {
  const auto head = root.find("head");
  if (head) return head->text() == "RTDETRDecoder";
  return describes(root, {"rtdetr", "RTDETR", "rt-detr", "RT-DETR"});
}
bool is_yolo(const Value& root) {
  return !is_rt_detr(root) && !describes(root, {"YOLO_nas", "yolo_nas"});
}

/// Old files have no key for it: YOLOv10 was the only end-to-end YOLO then, and is named in the
/// description.
bool is_end_to_end(const Value& root) {
  const auto end2end = root.find("end2end"), nms = root.find("args", "nms");
  const auto description = root.find("description");
  const bool was_alone =
      !end2end && description && description->text().find("YOLOv10") != std::string::npos;
  return (end2end && end2end->flag()) || (nms && nms->flag()) || was_alone;
}

void read_outputs(const Value& root, ModelCard* card) {
  const auto head = root.find("head");
  if (head && !is_known_head(head->text())) {
    card->unknown = "head " + head->text();
  } else if (card->task == Task::kClassify) {
    card->family = Family::kClassification;
    card->raw_scores = true;  // exports end with the softmax
  } else if (card->task == Task::kSemantic) {
    card->family = Family::kSegmentation;
  } else if (card->task == Task::kDepth) {
    card->family = Family::kDepth;
  } else if (card->task == Task::kDetect && is_rt_detr(root)) {
    card->family = Family::kRtDetr;
  } else if (card->task != Task::kUnknown && is_yolo(root)) {
    card->end_to_end = is_end_to_end(root);
    card->family = *card->end_to_end ? Family::kYoloEndToEnd : Family::kYolo;
  }
}

void read_imgsz(const Value& root, ModelCard* card) {
  const auto imgsz = root.find("imgsz");
  if (!imgsz) return;
  if (!imgsz->is_list()) {
    card->input_height = card->input_width = imgsz->whole(1, CardLimits::kPixels);
    return;
  }
  const auto sides = imgsz->items();
  if (sides.size() != 2) {
    imgsz->refuse("is not [height, width]");
  }
  card->input_height = sides[0].whole(1, CardLimits::kPixels);
  card->input_width = sides[1].whole(1, CardLimits::kPixels);
}

/// Ultralytics writes no skeleton: users who know the key points add it to the file.
void read_skeleton(const Value& root, ModelCard* card) {
  if (const auto skeleton = root.find("skeleton")) {
    card->skeleton = skeleton->pairs(0, card->key_points - 1);
  }
}

void read_key_points(const Value& root, ModelCard* card) {
  const auto shape = root.find("kpt_shape");
  if (!shape) return;
  const auto sides = shape->items();
  if (sides.size() != 2) {
    shape->refuse("is not [key points, 2 or 3]");
  }
  card->key_points = sides[0].whole(1, CardLimits::kKeyPoints);
  card->key_point_values = sides[1].whole(2, 3);
  read_skeleton(root, card);
  auto names = root.find("kpt_names");
  // Each class may have its own names; a card holds the first class's.
  if (names && names->is_map()) {
    names = names->find("0");
  }
  if (!names) return;
  card->key_point_names = names->texts(CardLimits::kKeyPoints);
  if (card->key_point_names.size() != card->key_points) {
    names->refuse("has not the " + std::to_string(card->key_points) + " entries of kpt_shape");
  }
}

}  // namespace

ModelCard card_of_metadata(const std::string& text, const std::string& place) {
  Tree tree = parse_yaml(text, place);
  unfold_literals(tree, place);
  const Value root(tree, Value::Scalars::kText, place);
  ModelCard card;
  if (const auto task = root.find("task")) {
    card.task = task_of(task->text());
    if (card.task == Task::kUnknown) {
      card.unknown = "task " + task->text();
    }
  }
  read_outputs(root, &card);
  if (const auto names = root.find("names")) {
    card.labels = names->labels();
  }
  read_imgsz(root, &card);
  read_key_points(root, &card);
  if (const auto iou = root.find("args", "iou")) {
    card.iou_threshold = static_cast<float>(iou->number(0, 1));
  }
  if (const auto description = root.find("description")) {
    card.architecture = description->text();
  }
  return card;
}

// The IR of a classifier does not say that it sees the middle of the frame. IRs of the others say
// "letterbox", even where the authors stretch.
ModelCard resize_of_ultralytics(const ModelCard& metadata) {
  ModelCard card;
  if (metadata.task == Task::kClassify) {
    card.resize = ResizeMode::kCrop;
  } else if (metadata.family == Family::kRtDetr || metadata.family == Family::kDepth) {
    card.resize = ResizeMode::kStretch;
  }
  return card;
}

ModelCard preprocess_of_ultralytics(const ModelCard& metadata) {
  ModelCard card;
  if (metadata.family == Family::kAuto) return card;
  card.channels = ChannelOrder::kRGB;
  card.scale = {255};
  if (!resize_of_ultralytics(metadata).resize) {
    card.resize = ResizeMode::kLetterbox;
    card.pad_value = 114.0F;
  }
  return card;
}

}  // namespace npu::vision
