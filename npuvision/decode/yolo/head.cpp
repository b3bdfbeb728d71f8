#include "head.hpp"

#include <algorithm>
#include <array>

#include "../cells.hpp"

namespace npu::vision {
namespace {

std::string number(std::size_t value) {
  return std::to_string(value);
}

bool is_boxes(const TensorView& tensor) {
  return is_float(tensor) && has_shape(tensor, {1, 0, 0});
}

bool is_protos(const TensorView& tensor) {
  return is_float(tensor) && has_shape(tensor, {1, 0, 0, 0});
}

// Finds the tensor with the boxes and the one with the prototypes of masks. If the card names the
// first, other outputs do not matter.
std::string find_outputs(const Found& found, YoloHead* head) {
  const std::string& name = found.card.output;
  std::optional<std::size_t> boxes;
  for (std::size_t i = 0; i < found.outputs.size(); ++i) {
    const TensorView& output = found.outputs[i];
    if (is_boxes(output) && (name.empty() || output.name == name)) {
      if (boxes) return "has other tensors: more than one of three dimensions: set tensor-name";
      boxes = i;
    } else if (is_protos(output)) {
      if (head->protos) return "has other tensors: more than one of four dimensions";
      head->protos = i;
    } else if (name.empty()) {
      return kOtherTensors;
    }
  }
  if (!boxes) return kOtherTensors;
  head->output = *boxes;
  return "";
}

// The card's task, else what the outputs suggest.
Task task_of(const Found& found, const YoloHead& head) {
  if (found.card.task != Task::kUnknown) return found.card.task;
  if (head.protos) return Task::kSegment;
  return found.card.key_points > 0 ? Task::kPose : Task::kDetect;
}

std::string settle_task(const Found& found, YoloHead* head) {
  head->task = task_of(found, *head);
  constexpr std::array kTasks{Task::kDetect, Task::kSegment, Task::kPose, Task::kOriented};
  if (std::find(kTasks.begin(), kTasks.end(), head->task) == kTasks.end()) {
    return std::string("has the task ") + to_string(head->task);
  }
  if (head->task == Task::kSegment) {
    if (!head->protos) return "has no prototypes of masks, [1, coefficients, height, width]";
    head->mask_coefficients = found.outputs[*head->protos].dims[1];
    return "";
  }
  if (head->protos && found.card.output.empty()) {
    return "has an output of four dimensions, which only masks have";
  }
  head->protos.reset();
  return "";
}

// Derives the values of a key point from the number that a box has for all of them.
std::string settle_key_points(const ModelCard& card, std::size_t extra, YoloHead* head) {
  std::size_t each = card.key_point_values;
  if (each == 0 && card.key_points > 0) {
    each = extra / card.key_points;
  }
  if (each == 0 && (extra % 2 == 0) != (extra % 3 == 0)) {
    each = extra % 3 == 0 ? 3 : 2;
  }
  const bool fits = (each == 2 || each == 3) && extra >= each && extra % each == 0 &&
                    (card.key_points == 0 || card.key_points * each == extra);
  if (!fits) {
    return "has " + number(extra) +
           " values per box for key points, but the model's description "
           "does not say how many those are, or says another number";
  }
  head->key_points = extra / each;
  head->key_point_values = each;
  return "";
}

bool is_named(const Found& found, Family family) {
  return found.card.family == family;
}

// Whether the user set family and task: then labels may be missing. Files that set them have labels
// that match.
bool is_certain(const Found& found, Family family) {
  return is_named(found, family) && found.card.task != Task::kUnknown &&
         !found.card.origins.contains("family");
}

// ---- Raw

std::string settle_raw_values(const Found& found, YoloHead* head) {
  const std::size_t labels = found.card.labels.size();
  const bool counts = labels > 0 && !is_certain(found, Family::kYolo);
  if (head->values <= YoloHead::kBoxValues) {
    return "has " + number(head->values) + " values per box, too few for a class";
  }
  const std::size_t rest = head->values - YoloHead::kBoxValues;
  if (head->task == Task::kPose) {
    const std::size_t known = std::size_t{found.card.key_points} * found.card.key_point_values;
    const std::size_t extra = labels > 0 && rest > labels && known == 0 ? rest - labels : known;
    if (extra == 0 || extra >= rest) {
      return "has " + number(head->values) +
             " values per box, and neither labels nor the model's description say which of them "
             "are key points";
    }
    std::string reason = settle_key_points(found.card, extra, head);
    if (!reason.empty()) return reason;
  }
  const std::size_t extras = head->extras();
  head->classes = rest > extras ? rest - extras : 0;
  if (head->classes == 0 || (counts && head->classes != labels)) {
    return "has " + number(head->values) + " values per box, which is not 4 + " +
           (labels > 0 ? number(labels) + " labels" : "classes") +
           (extras > 0 ? " + " + number(extras) + " for the task " + to_string(head->task) : "");
  }
  return "";
}

std::string sized(InputSize size) {
  return number(size.width) + "x" + number(size.height) + " (" + number(grid_cells(size)) +
         " cells)";
}

// Where the graph scales its picture first, boxes are pixels of what has as many cells.
std::string doubt_about_pixels(const Found& found, std::size_t boxes) {
  const InputSize inner = inner_size(found);
  if (inner.width == 0 || may_be_cells(boxes, found.input)) return "";
  return "has " + number(boxes) + " boxes, which are not those of the model's input, " +
         sized(found.input) + ", nor those of the picture to which its graph scales that first, " +
         sized(inner) + ": their pixels may be of either; make the model without that step";
}

YoloReading read_raw_way(const Found& found, YoloHead head, bool channels_first) {
  const TensorView& tensor = found.outputs[head.output];
  head.channels_first = channels_first;
  head.values = tensor.dims[channels_first ? 1 : 2];
  head.boxes = tensor.dims[channels_first ? 2 : 1];
  std::string refusal = settle_raw_values(found, &head);
  const auto& said = found.card.channels_first;
  if (refusal.empty() && said && *said != channels_first) {
    refusal = "lies the other way round than the model's description says";
  }
  // Many heads have rows of boxes. Rows of classes are YOLO's own if their number is right; with
  // key points of unknown number any number would be.
  const bool is_any_number = head.task == Task::kPose && found.card.key_points == 0;
  const bool is_sure = said || are_grid_cells(head.boxes, found.input) ||
                       (channels_first && !found.card.labels.empty() && !is_any_number) ||
                       (is_named(found, Family::kYolo) && head.boxes > head.values);
  if (refusal.empty()) {
    refusal = doubt_about_pixels(found, head.boxes);
  }
  if (refusal.empty() && !is_sure) {
    refusal = "has " + number(head.boxes) +
              " boxes, which are not those of the model's input: set model-family, and "
              "tensor-layout to channels-first or boxes-first";
  }
  const bool may_have_objectness =
      !channels_first && !said && found.card.labels.empty() && !is_named(found, Family::kYolo);
  if (refusal.empty() && may_have_objectness) {
    refusal = "may have " + number(head.classes) +
              " classes, or objectness and one less: set labels, or model-family";
  }
  return {head, refusal};
}

// ---- End to end

std::string settle_end_to_end_values(const Found& found, YoloHead* head) {
  if (head->task == Task::kPose) {
    if (head->values <= YoloHead::kEndToEndValues) return "has no values for key points";
    return settle_key_points(found.card, head->values - YoloHead::kEndToEndValues, head);
  }
  const std::size_t wanted = YoloHead::kEndToEndValues + head->extras();
  if (head->values == wanted) return "";
  return "has " + number(head->values) + " values per box, but for the task " +
         to_string(head->task) + " it is " + number(wanted);
}

// Whether the values may also be those of a box and some classes.
bool may_be_classes(const Found& found, const YoloHead& head) {
  const std::size_t labels = found.card.labels.size();
  const std::size_t classes = head.values - head.extras() - YoloHead::kBoxValues;
  if (labels == 0 || labels == classes) return true;
  const bool are_cells =
      are_grid_cells(head.boxes, found.input) || are_grid_cells(head.boxes, found.input, 3);
  return are_cells;  // and objectness, or any other number
}

// Rows of a few values are common shapes.
std::string doubt_about_end_to_end(const Found& found, const YoloHead& head) {
  if (may_be_classes(found, head)) {
    return "may have " + number(head.values - head.extras() - YoloHead::kBoxValues) +
           " classes, or be end to end: set tensor-layout to boxes-first or end-to-end";
  }
  const bool is_guessed = head.task == Task::kPose && found.card.key_points == 0;
  return is_guessed || head.boxes == 1
             ? "may be no boxes at all: set tensor-layout to end-to-end where it is"
             : "";
}

// ---- Objectness

std::string settle_factors(const Found& found, Family family, YoloHead* head) {
  const std::size_t others = YoloHead::kFirstFactor + head->extras();
  const std::size_t labels = found.card.labels.size();
  head->classes = head->values > others ? head->values - others : 0;
  const bool is_told = labels == 0 ? is_named(found, family) || found.card.task == head->task
                                   : is_certain(found, family);
  if (head->classes > 0 && (is_told || head->classes == labels)) return "";
  return "has " + number(head->values) + " values per box, which is not 5 + " +
         (labels > 0 ? number(labels) + " labels" : "classes") +
         (head->extras() > 0 ? " + " + number(head->extras()) + " for masks" : "");
}

// ---- End to end, with the last step on the host

std::string settle_host_values(const Found& found, YoloHead* head) {
  const std::string& step = found.card.host_postprocess;
  constexpr std::array kSteps{"topk", "nms", "nms-best-class", "multiclass-nms", "matrix-nms"};
  if (std::find(kSteps.begin(), kSteps.end(), step) == kSteps.end()) {
    return "is left to the host, but \"" + step +
           "\" is none of topk, nms, nms-best-class, multiclass-nms and matrix-nms";
  }
  if (head->classes == 0 || found.card.host_detections == 0) {
    return "is left to the host, but the model does not say how many classes and detections";
  }
  const std::size_t known = YoloHead::kBoxValues + head->classes;
  const std::size_t extra = head->values > known ? head->values - known : 0;
  if (found.card.task == Task::kUnknown && !head->protos && extra == 1 && step == "topk") {
    head->task = Task::kOriented;
  }
  if (head->task == Task::kOriented && step != "topk") {
    return "is left to the host, but \"" + step + "\" suppresses upright boxes";
  }
  if (head->task == Task::kPose) {
    std::string reason = settle_key_points(found.card, extra, head);
    if (!reason.empty()) return reason;
  }
  if (head->values == known + head->extras()) return "";
  return "has " + number(head->values) + " values per box, which is not 4 + " +
         number(head->classes) + " classes + " + number(head->extras()) + " for the task " +
         to_string(head->task);
}

YoloReading read_host_way(const Found& found, YoloHead head, bool channels_first) {
  const TensorView& tensor = found.outputs[head.output];
  head.channels_first = channels_first;
  head.values = tensor.dims[channels_first ? 1 : 2];
  head.boxes = tensor.dims[channels_first ? 2 : 1];
  head.classes = found.card.host_classes;
  std::string refusal = settle_host_values(found, &head);
  return {head, std::move(refusal)};
}

}  // namespace

std::size_t YoloHead::extras() const {
  return mask_coefficients + key_points * key_point_values + (task == Task::kOriented ? 1 : 0);
}

YoloReading read_raw_head(const Found& found) {
  YoloHead head;
  if (found.card.end_to_end.value_or(false)) return {head, "is said to be end to end"};
  std::string refusal = find_outputs(found, &head);
  if (refusal.empty()) {
    refusal = settle_task(found, &head);
  }
  if (refusal.empty() && found.card.task == Task::kUnknown && found.card.labels.empty()) {
    refusal = "may have scores, key points, masks or angles: set model-task, or labels";
  }
  if (!refusal.empty()) return {head, refusal};
  YoloReading columns = read_raw_way(found, head, true);
  YoloReading rows = read_raw_way(found, head, false);
  if (columns.refusal.empty() && rows.refusal.empty()) {
    return {head, "could be either way round: set tensor-layout to channels-first or boxes-first"};
  }
  if (columns.refusal.empty()) return columns;
  if (rows.refusal.empty()) return rows;
  return columns.head.boxes > rows.head.boxes ? columns : rows;
}

YoloReading read_end_to_end_head(const Found& found) {
  YoloHead head;
  const bool is_sure =
      found.card.end_to_end.value_or(false) || is_named(found, Family::kYoloEndToEnd);
  if (!is_sure && found.card.end_to_end) return {head, "is said not to be end to end"};
  std::string refusal = find_outputs(found, &head);
  if (refusal.empty()) {
    refusal = settle_task(found, &head);
  }
  if (!refusal.empty()) return {head, refusal};
  head.boxes = found.outputs[head.output].dims[1];
  head.values = found.outputs[head.output].dims[2];
  if (found.card.task == Task::kUnknown && is_sure && !head.protos &&
      head.values == YoloHead::kEndToEndValues + 1) {
    head.task = Task::kOriented;
  }
  head.classes = found.card.labels.size();
  refusal = settle_end_to_end_values(found, &head);
  if (refusal.empty() && !is_sure) {
    refusal = doubt_about_end_to_end(found, head);
  }
  return {head, refusal};
}

YoloReading read_objectness_head(const Found& found, Family family) {
  YoloHead head;
  std::string refusal = find_outputs(found, &head);
  if (refusal.empty()) {
    refusal = settle_task(found, &head);
  }
  if (refusal.empty() && head.task != Task::kDetect && head.task != Task::kSegment) {
    refusal = std::string("has the task ") + to_string(head.task);
  }
  if (!refusal.empty()) return {head, refusal};
  if (found.card.end_to_end.value_or(false)) return {head, "is said to be end to end"};
  if (found.card.channels_first.value_or(false)) return {head, "is said to have channels first"};
  head.boxes = found.outputs[head.output].dims[1];
  head.values = found.outputs[head.output].dims[2];
  refusal = settle_factors(found, family, &head);
  return {head, refusal};
}

YoloReading read_host_head(const Found& found) {
  YoloHead head;
  std::string refusal = find_outputs(found, &head);
  if (refusal.empty()) {
    refusal = settle_task(found, &head);
  }
  if (!refusal.empty()) return {head, refusal};
  const YoloReading columns = read_host_way(found, head, true);
  const YoloReading rows = read_host_way(found, head, false);
  if (columns.refusal.empty() && rows.refusal.empty() && columns.head.values == rows.head.values) {
    return {head,
            "could be either way round: its input's size gives as many boxes as a box has "
            "values; set another input-shape, or repair=none"};
  }
  if (columns.refusal.empty() != rows.refusal.empty()) {
    return columns.refusal.empty() ? columns : rows;
  }
  return columns.head.boxes > rows.head.boxes ? columns : rows;
}

}  // namespace npu::vision
