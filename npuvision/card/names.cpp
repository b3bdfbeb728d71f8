// Names of tasks and families.
#include <algorithm>
#include <iterator>
#include <string_view>
#include <vector>

#include <npucore/error.hpp>
#include <npuvision/model_card.hpp>

namespace npu::vision {
namespace {

template <typename Value>
struct Name {
  Value value;
  const char* name;
};

constexpr Name<Task> kTasks[] = {
    {Task::kUnknown, "unknown"},   {Task::kDetect, "detect"},       {Task::kSegment, "segment"},
    {Task::kPose, "pose"},         {Task::kOriented, "obb"},        {Task::kClassify, "classify"},
    {Task::kSemantic, "semantic"}, {Task::kKeyPoints, "keypoints"}, {Task::kAnomaly, "anomaly"},
    {Task::kDepth, "depth"},       {Task::kEmbed, "embed"},         {Task::kReadText, "read-text"},
    {Task::kFindText, "find-text"}};

constexpr Name<Family> kFamilies[] = {{Family::kAuto, "auto"},
                                      {Family::kYolo, "yolo"},
                                      {Family::kYoloEndToEnd, "yolo-end-to-end"},
                                      {Family::kYoloObjectness, "yolo-objectness"},
                                      {Family::kYoloX, "yolox"},
                                      {Family::kSsd, "ssd"},
                                      {Family::kDetr, "detr"},
                                      {Family::kDetrDecoded, "detr-decoded"},
                                      {Family::kClassification, "classification"},
                                      {Family::kSegmentation, "segmentation"},
                                      {Family::kSimcc, "simcc"},
                                      {Family::kAnomaly, "anomaly"},
                                      {Family::kDepth, "depth"},
                                      {Family::kEmbedding, "embedding"},
                                      {Family::kCtc, "ctc"},
                                      {Family::kTextBoxes, "text-boxes"},
                                      {Family::kAnchors, "anchors"},
                                      {Family::kYoloV3Heads, "yolov3-heads"},
                                      {Family::kYoloV4Heads, "yolov4-heads"},
                                      {Family::kYoloV5Heads, "yolov5-heads"},
                                      {Family::kYoloV7Heads, "yolov7-heads"},
                                      {Family::kYoloNas, "yolo-nas"},
                                      {Family::kMaskRcnn, "mask-rcnn"},
                                      {Family::kPicoDet, "picodet"},
                                      {Family::kRtDetr, "rtdetr"},
                                      {Family::kTfDetection, "tf-detection"},
                                      {Family::kTorchvision, "torchvision"},
                                      {Family::kCenterFace, "centerface"},
                                      {Family::kLandmarks, "landmarks"},
                                      {Family::kMaskQueries, "mask-queries"},
                                      {Family::kTfliteDetection, "tflite-detection"}};

template <typename Value, std::size_t count>
std::vector<Value> values_of(const Name<Value> (&names)[count]) {
  std::vector<Value> values;
  for (const auto& one : names) values.push_back(one.value);
  return values;
}

template <typename Value, std::size_t count>
const char* name_of(const Name<Value> (&names)[count], Value value) {
  const auto found = std::find_if(std::begin(names), std::end(names),
                                  [value](const auto& one) { return one.value == value; });
  return found == std::end(names) ? "unknown" : found->name;
}

template <typename Value, std::size_t count>
Value value_of(const Name<Value> (&names)[count], const std::string& name, const char* what) {
  std::string valid;
  for (const auto& one : names) {
    if (name == one.name) return one.value;
    valid += (valid.empty() ? "" : ", ") + std::string(one.name);
  }
  throw Error(ErrorCode::kInvalidArgument,
              "there is no " + std::string(what) + " \"" + name + "\"; there are: " + valid);
}

}  // namespace

std::vector<Task> tasks() {
  return values_of(kTasks);
}

std::vector<Family> families() {
  return values_of(kFamilies);
}

const char* to_string(Task task) {
  return name_of(kTasks, task);
}

const char* to_string(Family family) {
  return name_of(kFamilies, family);
}

Task task_from_string(const std::string& name) {
  return value_of(kTasks, name, "task");
}

Family family_from_string(const std::string& name) {
  return value_of(kFamilies, name, "family");
}

}  // namespace npu::vision
