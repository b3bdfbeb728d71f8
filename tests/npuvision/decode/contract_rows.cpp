#include "contract_rows.hpp"

#include <iterator>
#include <utility>

namespace npu::vision {
namespace {

using Rows = std::vector<ContractRow>;

constexpr std::size_t kCells = 21;  // of 8, 16 and 32 pixels in 32x32
constexpr std::size_t kMasks = 5;   // coefficients

ModelCard card_with(Task task, std::size_t labels, void (*change)(ModelCard&)) {
  ModelCard card = card_of(task, labels);
  change(card);
  return card;
}

ModelCard posed(ModelCard card) {
  card.key_points = 4;
  card.key_point_values = 3;
  return card;
}

RowOutput protos() {
  return {{"output1", {1, kMasks, 8, 8}}, "l"};
}

// If values lie in columns, [1, values, boxes], the axis is the second last.
RowOutput columns(std::size_t values, std::string what) {
  return {{"output0", {1, values, kCells}}, std::move(what), 1};
}

RowOutput rows(std::size_t boxes, std::size_t values, std::string what) {
  return {{"output0", {1, boxes, values}}, std::move(what)};
}

Rows yolo_rows() {
  const auto detect = card_of(Task::kDetect, 3), pose = posed(card_of(Task::kPose, 1));
  const auto segment = card_of(Task::kSegment, 3), oriented = card_of(Task::kOriented, 7);
  return {
      {"yolo", Family::kYolo, detect, {columns(7, "pppps")}},
      {"yolo, boxes first", Family::kYolo, detect, {rows(kCells, 7, "pppps")}},
      {"yolo segment", Family::kYolo, segment, {columns(12, "ppppsssl"), protos()}},
      {"yolo pose", Family::kYolo, pose, {columns(17, "ppppsppsppsppspps")}},
      {"yolo obb", Family::kYolo, oriented, {columns(12, "ppppsssssssl")}},
  };
}

Rows end_to_end_rows() {
  const auto card = [](Task task, std::size_t labels) {
    return card_with(task, labels, [](ModelCard& one) { one.end_to_end = true; });
  };
  constexpr Family kFamily = Family::kYoloEndToEnd;
  return {
      {"end-to-end", kFamily, card(Task::kDetect, 3), {rows(30, 6, "aazzsw")}},
      {"end-to-end segment",
       kFamily,
       card(Task::kSegment, 3),
       {rows(30, 6 + kMasks, "aazzswl"), protos()}},
      {"end-to-end pose",
       kFamily,
       posed(card(Task::kPose, 1)),
       {rows(30, 18, "aazzs0ppsppsppspps")}},
      {"end-to-end obb", kFamily, card(Task::kOriented, 3), {rows(30, 7, "ppppswl")}},
  };
}

ModelCard cut(Task task, std::size_t labels, const char* step) {
  ModelCard card = card_of(task, labels);
  card.end_to_end = true;
  card.host_postprocess = step;
  card.host_classes = static_cast<std::uint32_t>(labels);
  card.host_detections = 10;
  card.host_iou_threshold = 0.5F;
  card.host_score_threshold = 0.1F;
  return card;
}

// Rows for models after Model::repair().
Rows host_rows() {
  constexpr Family kFamily = Family::kYoloEndToEnd;
  Rows all = {
      {"host topk segment",
       kFamily,
       cut(Task::kSegment, 3, "topk"),
       {columns(12, "aazzsssl"), protos()}},
      {"host topk pose",
       kFamily,
       posed(cut(Task::kPose, 1, "topk")),
       {columns(17, "aazzsppsppsppspps")}},
      {"host topk obb", kFamily, cut(Task::kOriented, 6, "topk"), {columns(11, "ppppssssssl")}},
      {"host nms-best-class segment",
       kFamily,
       cut(Task::kSegment, 3, "nms-best-class"),
       {rows(kCells, 12, "aazzsssl"), protos()}},
  };
  for (const char* step : {"topk", "nms", "nms-best-class", "multiclass-nms", "matrix-nms"}) {
    all.push_back(
        {std::string("host ") + step, kFamily, cut(Task::kDetect, 3, step), {columns(7, "aazzs")}});
  }
  return all;
}

Rows objectness_rows() {
  const auto yolox = card_of(Task::kDetect, 3, Family::kYoloX);
  return {
      {"yolov5",
       Family::kYoloObjectness,
       card_of(Task::kDetect, 3),
       {rows(3 * kCells, 8, "pppps")}},
      {"yolov5 segment",
       Family::kYoloObjectness,
       card_of(Task::kSegment, 3),
       {rows(3 * kCells, 8 + kMasks, "ppppssssl"), protos()}},
      {"yolox", Family::kYoloX, yolox, {rows(kCells, 8, "lllls")}},
  };
}

Rows grid_rows() {
  const auto head = [](const char* name, std::size_t side) {
    return RowOutput{{name, {1, 24, side, side}}, "l"};
  };
  const auto lying = [](const char* name, std::size_t side) {
    return RowOutput{{name, {1, 3, side, side, 8}}, "l"};
  };
  Rows all;
  for (const Family family :
       {Family::kYoloV3Heads, Family::kYoloV4Heads, Family::kYoloV5Heads, Family::kYoloV7Heads}) {
    const auto card = card_of(Task::kDetect, 3, family);
    all.push_back({to_string(family), family, card, {head("a", 4), head("b", 2), head("c", 1)}});
  }
  all.push_back({"yolov5-heads, values last",
                 Family::kYoloV5Heads,
                 card_of(Task::kDetect, 3, Family::kYoloV5Heads),
                 {lying("a", 4), lying("b", 2), lying("c", 1)}});
  return all;
}

Rows graph_rows() {
  constexpr ElementType kLong = ElementType::kI64;
  const auto nas = card_of(Task::kDetect, 3, Family::kYoloNas);
  const auto masks = card_of(Task::kSegment, 3, Family::kMaskRcnn);
  return {
      {"yolo-nas", Family::kYoloNas, nas, {{{"o", {12, 7}}, "0aazzsw"}}},
      {"ssd", Family::kSsd, card_of(Task::kDetect, 3), {{{"o", {1, 1, 10, 7}}, "0wsxxyy"}}},
      {"ssd, boxes and labels",
       Family::kSsd,
       card_of(Task::kDetect, 3),
       {{{"boxes", {11, 5}}, "aazzs"}, {{"labels", {11}, kLong}, "w"}}},
      {"ssd, three outputs",
       Family::kSsd,
       card_of(Task::kDetect, 3),
       {{{"bboxes", {1, 14, 4}}, "xxyy"},
        {{"labels", {1, 14}, kLong}, "w"},
        {{"scores", {1, 14}}}}},
      {"tf-detection",
       Family::kTfDetection,
       card_of(Task::kDetect, 3),
       {{{"detection_boxes", {1, 15, 4}}, "xxyy"},
        {{"detection_classes", {1, 15}}, "1"},
        {{"detection_scores", {1, 15}}},
        {{"num_detections", {1}}, "w"}}},
      {"detr-decoded",
       Family::kDetrDecoded,
       card_of(Task::kDetect, 3),
       {{{"labels", {1, 14}, kLong}, "w"}, {{"boxes", {1, 14, 4}}, "aazz"}, {{"scores", {1, 14}}}}},
      {"mask-rcnn",
       Family::kMaskRcnn,
       masks,
       {{{"b", {6, 5}}, "aazzs"}, {{"l", {6}, kLong}, "w"}, {{"m", {6, 7, 6}}}}},
      {"mask-rcnn of a batch",
       Family::kMaskRcnn,
       masks,
       {{{"b", {1, 12, 5}}, "aazzs"}, {{"l", {1, 12}, kLong}, "w"}, {{"m", {1, 12, 7, 6}}}}},
  };
}

Rows detr_rows() {
  const auto softmax = card_with(
      Task::kDetect, 10, [](ModelCard& card) { card.architecture = "DetrForObjectDetection"; });
  return {
      {"detr of Hugging Face",
       Family::kDetr,
       card_of(Task::kDetect, 11),
       {{{"logits", {1, 13, 11}}, "l"}, {{"pred_boxes", {1, 13, 4}}}}},
      {"detr with a softmax",
       Family::kDetr,
       softmax,
       {{{"logits", {1, 13, 11}}, "l"}, {{"pred_boxes", {1, 13, 4}}}}},
      {"rf-detr",
       Family::kDetr,
       card_of(Task::kDetect, 12),
       {{{"dets", {1, 13, 4}}}, {{"labels", {1, 13, 12}}, "l"}}},
      {"rf-detr segment",
       Family::kDetr,
       card_of(Task::kSegment, 12),
       {{{"dets", {1, 13, 4}}}, {{"labels", {1, 13, 12}}, "l"}, {{"masks", {1, 13, 7, 7}}, "l"}}},
  };
}

Rows query_rows() {
  constexpr Family kFamily = Family::kMaskQueries;
  const std::vector<RowOutput> outputs{{{"class_queries_logits", {1, 8, 19}}, "l"},
                                       {{"masks_queries_logits", {1, 8, 16, 16}}, "l"}};
  return {{"mask-queries, semantic", kFamily, card_of(Task::kSemantic, 18), outputs},
          {"mask-queries, segment", kFamily, card_of(Task::kSegment, 18), outputs}};
}

Rows grid_of_scores_rows() {
  const auto faces = [](std::uint32_t side, std::size_t boxes, std::size_t values = 16) {
    return ContractRow{"anchors of " + std::to_string(side) + ", " + std::to_string(values),
                       Family::kAnchors,
                       card_of(Task::kDetect, 1),
                       {{{"boxes", {1, boxes, values}}, "p"}, {{"scores", {1, boxes, 1}}, "l"}},
                       {side, side}};
  };
  ContractRow picodet{
      "picodet", Family::kPicoDet, card_of(Task::kDetect, 3), {}, InputSize{64, 64}};
  for (const std::size_t cells : {64U, 16U, 4U, 1U}) {
    picodet.outputs.push_back({{"s" + std::to_string(cells), {1, cells, 3}}});
  }
  for (const std::size_t cells : {64U, 16U, 4U, 1U}) {
    picodet.outputs.push_back({{"d" + std::to_string(cells), {1, cells, 32}}, "l"});
  }
  return {faces(128, 896),      faces(256, 896),      faces(192, 2304),
          faces(192, 2016, 18), faces(224, 2254, 12), picodet};
}

// Of 32x32 SSDlite has 54 anchors, RetinaNet 207, FCOS 23.
Rows torchvision_rows() {
  const auto card = card_of(Task::kDetect, 3);
  const auto heads = [](std::size_t anchors) {
    return std::vector<RowOutput>{{{"cls_logits", {1, anchors, 3}}, "l"},
                                  {{"bbox_regression", {1, anchors, 4}}, "s"}};
  };
  auto fcos = heads(23);
  fcos.push_back({{"bbox_ctrness", {1, 23, 1}}, "l"});
  return {{"torchvision ssdlite", Family::kTorchvision, card, heads(54)},
          {"torchvision retinanet", Family::kTorchvision, card, heads(207)},
          {"torchvision fcos", Family::kTorchvision, card, fcos}};
}

Rows face_rows() {
  return {{"centerface",
           Family::kCenterFace,
           card_of(Task::kDetect, 1),
           {{{"537", {1, 1, 8, 8}}},
            {{"538", {1, 2, 8, 8}}},
            {{"539", {1, 2, 8, 8}}},
            {{"540", {1, 10, 8, 8}}}}}};
}

Rows point_rows() {
  const auto points = card_with(Task::kKeyPoints, 0, [](ModelCard& card) { card.key_points = 5; });
  const auto any = card_of(Task::kKeyPoints);
  return {{"simcc",
           Family::kSimcc,
           points,
           {{{"simcc_x", {1, 5, 48}}}, {{"simcc_y", {1, 5, 64}}}},
           {24, 32}},
          {"landmarks of a hand",
           Family::kLandmarks,
           any,
           {{{"p", {1, 63}}, "p"}, {{"a", {1, 1}}}, {{"b", {1, 1}}}}},
          {"landmarks of a body",
           Family::kLandmarks,
           any,
           {{{"p", {1, 195}}, "p"}, {{"a", {1, 1}}}, {{"h", {1, 9, 9, 39}}, "l"}}}};
}

Rows classification_rows() {
  const auto several =
      card_with(Task::kClassify, 9, [](ModelCard& card) { card.multilabel = true; });
  const auto levels = card_with(Task::kClassify, 4, [](ModelCard& card) {
    card.level_values = {{0, 0}, {0, 1}, {0, 2}, {1, 3}};
    card.exclusive_groups = 1;
    card.level_parents = {{3, 0}};
  });
  constexpr Family kFamily = Family::kClassification;
  return {
      {"classification", kFamily, card_of(Task::kClassify, 9), {{{"o", {1, 9}}, "l"}}},
      {"classification of pictures",
       kFamily,
       card_of(Task::kClassify, 9),
       {{{"o", {1, 9, 1, 1}}, "l"}}},
      {"classification, multilabel", kFamily, several, {{{"o", {1, 9}}, "l"}}},
      {"classification of levels", kFamily, levels, {{{"o", {1, 4}}, "l"}}},
  };
}

Rows map_rows() {
  const auto anomaly = card_with(Task::kAnomaly, 0, [](ModelCard& card) {
    card.image_threshold = card.pixel_threshold = 0.5F;
    card.normalization_scale = 2.0F;
  });
  constexpr ElementType kByte = ElementType::kU8;
  return {
      {"segmentation",
       Family::kSegmentation,
       card_of(Task::kSemantic, 3),
       {{{"o", {1, 3, 20, 20}}}}},
      {"class ids",
       Family::kSegmentation,
       card_of(Task::kSemantic, 3),
       {{{"o", {1, 20, 20}, kByte}, "w"}}},
      {"class ids of one channel",
       Family::kSegmentation,
       card_of(Task::kSemantic, 3),
       {{{"o", {1, 1, 20, 20}, ElementType::kI64}, "w"}}},
      {"anomaly", Family::kAnomaly, anomaly, {{{"o", {1, 1, 20, 20}}, "l"}}},
      {"anomaly of Anomalib 2",
       Family::kAnomaly,
       card_of(Task::kAnomaly),
       {{{"anomaly_map", {1, 1, 20, 20}}}, {{"pred_score", {1}}}}},
      {"depth", Family::kDepth, card_of(Task::kDepth), {{{"o", {1, 20, 20}}, "p"}}},
      {"depth of one channel",
       Family::kDepth,
       card_of(Task::kDepth),
       {{{"o", {1, 1, 20, 20}}, "p"}}},
      {"embedding", Family::kEmbedding, card_of(Task::kEmbed), {{{"o", {1, 17}}, "l"}}},
      {"embedding of SigLIP",
       Family::kEmbedding,
       card_of(Task::kEmbed),
       {{{"last_hidden_state", {1, 9, 17}}, "l"}, {{"pooler_output", {1, 17}}, "l"}}},
      {"embedding of pictures",
       Family::kEmbedding,
       card_of(Task::kEmbed),
       {{{"o", {1, 17, 1, 1}}, "l"}}},
  };
}

Rows text_rows() {
  const auto reader =
      card_with(Task::kReadText, 0, [](ModelCard& card) { card.characters.assign(25, "a"); });
  const auto blank_last = card_with(Task::kReadText, 0, [](ModelCard& card) {
    card.characters.assign(25, "a");
    card.characters.emplace_back("blank");
  });
  return {
      {"ctc, steps first", Family::kCtc, reader, {{{"o", {40, 1, 26}}, "l"}}},
      {"ctc, characters first", Family::kCtc, blank_last, {{{"o", {1, 26, 40}}, "l", 1}}},
      {"ctc", Family::kCtc, reader, {{{"o", {1, 40, 26}}}}},
      {"ctc with a space", Family::kCtc, reader, {{{"o", {1, 40, 27}}}}},
      {"text-boxes", Family::kTextBoxes, card_of(Task::kFindText), {{{"o", {1, 1, 24, 24}}}}},
      {"text-boxes of a map", Family::kTextBoxes, card_of(Task::kFindText), {{{"o", {1, 24, 24}}}}},
  };
}

Rows all_rows() {
  Rows all;
  for (Rows (*part)() : {yolo_rows, end_to_end_rows, host_rows, objectness_rows, grid_rows,
                         graph_rows, detr_rows, query_rows, grid_of_scores_rows, torchvision_rows,
                         face_rows, point_rows, classification_rows, map_rows, text_rows}) {
    Rows rows = part();
    all.insert(all.end(), std::make_move_iterator(rows.begin()),
               std::make_move_iterator(rows.end()));
  }
  return all;
}

}  // namespace

std::vector<Shaped> ContractRow::shapes() const {
  std::vector<Shaped> all;
  for (const RowOutput& output : outputs) all.push_back(output.shaped);
  return all;
}

const std::vector<ContractRow>& contract_rows() {
  static const std::vector<ContractRow> all = all_rows();
  return all;
}

}  // namespace npu::vision
