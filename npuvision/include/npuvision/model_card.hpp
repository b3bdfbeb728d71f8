#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <npucore/frame.hpp>

namespace npu::vision {

/// What a model is for.
// clang-format off
enum class Task { kUnknown, kDetect, kSegment, kPose, kOriented, kClassify, kSemantic, kKeyPoints,
                  kAnomaly, kDepth, kEmbed, kReadText, kFindText };
/// How its outputs are laid out: one decoder each. docs/models.md has the contracts.
enum class Family { kAuto, kYolo, kYoloEndToEnd, kYoloObjectness, kYoloX, kSsd, kDetr,
                    kDetrDecoded, kClassification, kSegmentation, kSimcc, kAnomaly, kDepth,
                    kEmbedding, kCtc, kTextBoxes, kAnchors, kYoloV3Heads, kYoloV4Heads,
                    kYoloV5Heads, kYoloV7Heads, kYoloNas, kMaskRcnn, kPicoDet };
// clang-format on
NPU_API const char* to_string(Task task);      ///< "detect", "segment", "pose", "obb", ...
NPU_API const char* to_string(Family family);  ///< "auto", "yolo", "yolo-end-to-end", ...
/// The inverse of to_string; throws Error(kInvalidArgument) that lists the valid names.
NPU_API Task task_from_string(const std::string& name);
NPU_API Family family_from_string(const std::string& name);

/// Everything that is known about a model. What nobody said is empty.
struct NPU_API ModelCard {
  Task task = Task::kUnknown;
  Family family = Family::kAuto;
  std::vector<std::string> labels;                           ///< by label id, with their true names
  std::optional<float> confidence_threshold, iou_threshold;  ///< 0..1
  std::optional<std::uint32_t> max_objects;
  /// Whether the decoder suppresses overlaps, else as the family does; whether of all classes
  /// together.
  std::optional<bool> suppresses, agnostic;
  std::string output;  ///< name of the tensor to decode; empty: by shape
  /// Of a YOLO tensor: whether each class has a row, [1, 4 + classes, boxes].
  std::optional<bool> channels_first;
  /// Whether the graph ends with the suppression of overlaps: [1, boxes, 6].
  std::optional<bool> end_to_end;
  std::optional<bool> multilabel;  ///< each class is a question of its own, answered by a sigmoid
  /// Of a classification of several levels: for each value its group and its label. Labels of one
  /// of the first `exclusive_groups` exclude each other; the others are questions of their own.
  std::vector<std::pair<std::uint32_t, std::uint32_t>> level_values;
  std::uint32_t exclusive_groups = 0;
  /// Labels that count only where another does: it, and that other one.
  std::vector<std::pair<std::uint32_t, std::uint32_t>> level_parents;
  std::optional<bool> raw_scores;  ///< whether values of classes are taken as they are, no softmax

  /// Of YOLO's heads: width and height of each anchor in model pixels, from the finest grid on.
  std::vector<float> anchors;
  /// What Model::repair() cut off a detector's graph, and the decoder does instead: "topk", "nms",
  /// "nms-best-class", "multiclass-nms" or "matrix-nms"; empty: nothing.
  std::string host_postprocess;
  std::uint32_t host_classes = 0, host_detections = 0;  ///< of the tensor; most that it gave
  std::optional<float> host_iou_threshold, host_score_threshold;  ///< of the graph's own "nms"
  /// Of "nms-best-class": by what boxes are multiplied before they are compared, and how far each
  /// class then lies from the one before.
  std::optional<float> host_box_scale, host_class_offset;
  /// Of MulticlassNms and MatrixNms: the most candidates of a class, 0 for all; the class that does
  /// not count; by how much sides are longer than corners say.
  std::uint32_t host_class_candidates = 0;
  std::optional<std::uint32_t> host_background;
  std::optional<float> host_box_margin;
  /// Of MatrixNms: of a decay that is not linear; and what decayed scores are above.
  std::optional<float> host_gaussian_sigma, host_lowest_score;

  std::uint32_t key_points = 0;        ///< of an object
  std::uint32_t key_point_values = 0;  ///< 2: x, y; 3: and whether it is visible
  std::vector<std::string> key_point_names;
  std::vector<std::pair<std::uint32_t, std::uint32_t>> skeleton;  ///< pairs of key points

  std::vector<std::string> characters;  ///< of a text reader, without the blank that is class 0

  std::optional<float> image_threshold, normalization_scale;  ///< of anomalies
  std::optional<float> pixel_threshold;                       ///< of anomalies, and of text: 0..1
  /// By how much a line of text grows, times its area over its perimeter: it was taught shrunken.
  std::optional<float> unclip_ratio;
  std::optional<bool> use_dilation;  ///< whether text is a pixel wider and higher than its map

  // How a frame becomes the model's input.
  std::optional<npu::ResizeMode> resize;
  std::optional<float> crop_share;  ///< of a centre crop: Preprocess::crop_share
  std::optional<float> pad_value;   ///< grey level 0..255 of a letterbox' border
  std::optional<npu::ChannelOrder> channels;
  std::vector<float> mean, scale;  ///< (x - mean) / scale, x in grey levels 0..255
  std::optional<std::uint32_t> input_width, input_height;

  std::string architecture;  ///< as its authors call it, for people
  /// What of the above comes from which file or section: "labels" -> "metadata.yaml".
  std::map<std::string, std::string> origins;

  /// One line of JSON, as a blob and a frame's metadata carry it.
  std::string to_json() const;
  /// Throws Error(kInvalidArgument).
  static ModelCard from_json(const std::string& text);
};

/// The key of a blob's model_info that holds its model's card, as JSON.
inline constexpr const char* kCardKey = "npu_card";

/// The first that says something wins: the model's .modelinfo, metadata.yaml, the IR's `model_info`
/// (Model::model_info()), config.json and preprocessor_config.json, labels.txt, all beside the
/// model. A blob's `model_info` may hold a whole card: that of the IR, which counts before what
/// lies beside the blob but its .modelinfo. Pre-processing that nobody says is, of a YOLO with
/// metadata.yaml, that of all Ultralytics' YOLOs. Throws Error that names file and key.
NPU_API ModelCard read_model_card(const std::filesystem::path& model,
                                  const std::map<std::string, std::string>& model_info);

/// What `user` says counts; the rest is `model`'s.
NPU_API ModelCard merged(const ModelCard& user, const ModelCard& model);

/// Resize mode, border, channel order, mean and scale, where the card says them; the rest stays as
/// Model::default_preprocess() gave it. Mean and scale come from the card together.
NPU_API void apply(const ModelCard& card, npu::Preprocess* preprocess);

/// `open`, a picture input's shape with -1 for what the model leaves open, with the card's sizes
/// there and a batch of 1; empty where nothing is open, or the card does not say.
NPU_API Shape input_shape(const ModelCard& card, const Shape& open);

}  // namespace npu::vision
