#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <npucore/frame.hpp>
#include <npucore/model.hpp>

namespace npu::vision {

/// Purpose of a model.
// clang-format off
enum class Task { kUnknown, kDetect, kSegment, kPose, kOriented, kClassify, kSemantic, kKeyPoints,
                  kAnomaly, kDepth, kEmbed, kReadText, kFindText };
/// Layout of a model's outputs; each family has a decoder. docs/models.md has the contracts.
enum class Family { kAuto, kYolo, kYoloEndToEnd, kYoloObjectness, kYoloX, kSsd, kDetr,
                    kDetrDecoded, kClassification, kSegmentation, kSimcc, kAnomaly, kDepth,
                    kEmbedding, kCtc, kTextBoxes, kAnchors, kYoloV3Heads, kYoloV4Heads,
                    kYoloV5Heads, kYoloV7Heads, kYoloNas, kMaskRcnn, kPicoDet,
                    kRtDetr, kTfDetection, kTorchvision,
                    kCenterFace, kLandmarks, kMaskQueries, kTfliteDetection };
// clang-format on
NPU_API std::vector<Task> tasks();             ///< all of them, kUnknown first
NPU_API std::vector<Family> families();        ///< all of them, kAuto first
NPU_API const char* to_string(Task task);      ///< "detect", "segment", "pose", "obb", ...
NPU_API const char* to_string(Family family);  ///< "auto", "yolo", "yolo-end-to-end", ...
/// Inverse of to_string; throws Error(kInvalidArgument) that lists the valid names.
NPU_API Task task_from_string(const std::string& name);
NPU_API Family family_from_string(const std::string& name);

/// Everything that is known about a model. Unknown fields are empty.
struct NPU_API ModelCard {
  Task task = Task::kUnknown;
  Family family = Family::kAuto;
  std::vector<std::string> labels;                           ///< by label id
  std::optional<float> confidence_threshold, iou_threshold;  ///< 0..1
  std::optional<std::uint32_t> max_objects;
  /// Whether the decoder suppresses overlaps (nullopt: as the family does), and whether across
  /// classes.
  std::optional<bool> suppresses, agnostic;
  std::string output;  ///< name of the tensor to decode; empty: by shape
  /// YOLO: whether the tensor is [1, 4 + classes, boxes]. Text: whether it is [1, characters,
  /// steps].
  std::optional<bool> channels_first;
  /// Whether the graph itself suppresses overlaps: [1, boxes, 6].
  std::optional<bool> end_to_end;
  std::optional<bool> multilabel;  ///< classes do not exclude each other: a sigmoid for each
  /// Classification with levels: group and label of each value. Labels of one of the first
  /// `exclusive_groups` groups exclude each other; the other groups have independent labels.
  std::vector<std::pair<std::uint32_t, std::uint32_t>> level_values;
  std::uint32_t exclusive_groups = 0;
  /// Pairs of a label and the label without which it does not count.
  std::vector<std::pair<std::uint32_t, std::uint32_t>> level_parents;
  std::optional<bool> raw_scores;  ///< whether class values are used as they are, without a softmax

  /// YOLO heads: width and height of each anchor in model pixels, from the finest grid on.
  std::vector<float> anchors;
  /// The step that Model::repair() cut off a detector's graph and the decoder does instead: "topk",
  /// "nms", "nms-best-class", "multiclass-nms" or "matrix-nms"; empty: none.
  std::string host_postprocess;
  std::uint32_t host_classes = 0, host_detections = 0;  ///< the tensor's classes; the step's most
                                                        ///< boxes
  std::optional<float> host_iou_threshold, host_score_threshold;  ///< of the step "nms"
  /// "nms-best-class": factor of the boxes before they are compared, and the distance by which
  /// boxes of each class are then moved away from the class before.
  std::optional<float> host_box_scale, host_class_offset;
  /// MulticlassNms and MatrixNms: most candidates of a class, 0 for all; the class that does not
  /// count; the length that sides have beyond the difference of their corners.
  std::uint32_t host_class_candidates = 0;
  std::optional<std::uint32_t> host_background;
  std::optional<float> host_box_margin;
  /// MatrixNms: sigma of a Gaussian decay, and the limit above which decayed scores count.
  std::optional<float> host_gaussian_sigma, host_lowest_score;

  std::uint32_t key_points = 0;        ///< for each object
  std::uint32_t key_point_values = 0;  ///< 2: x, y; 3: x, y, visibility
  std::vector<std::string> key_point_names;
  std::vector<std::pair<std::uint32_t, std::uint32_t>> skeleton;  ///< pairs of key points

  /// A text reader's, by class; empty: its labels. One that is "blank" (or "[blank]", "<blank>", or
  /// "-" at an end) stands between characters; where none is, that is class 0 and left out.
  std::vector<std::string> characters;

  std::optional<float> image_threshold, normalization_scale;  ///< for anomalies
  std::optional<float> pixel_threshold;                       ///< for anomalies, and for text: 0..1
  /// Growth of a text line, times its area over its perimeter: the model was trained on shrunken
  /// lines.
  std::optional<float> unclip_ratio;
  std::optional<bool> use_dilation;  ///< whether the text map is dilated by one pixel

  // Preprocessing of a frame into the model's input:
  std::optional<npu::ResizeMode> resize;
  std::optional<float> crop_share;  ///< centre crop: Preprocess::crop_share
  std::optional<float> pad_value;   ///< grey level 0..255 of a letterbox border
  std::optional<npu::ChannelOrder> channels;
  std::vector<float> mean, scale;  ///< (x - mean) / scale, x in grey levels 0..255
  std::optional<std::uint32_t> input_width, input_height;
  /// The size to which the graph scales its picture before anything else, which may be
  /// pre-processing or the network's own step. Decoders take it where the boxes are the cells of it
  /// and not of the input.
  std::optional<std::uint32_t> inner_width, inner_height;

  std::string architecture;  ///< the authors' name for the model
  std::string unknown;       ///< task or head that the files name and this version does not know
  /// Source of each field: "labels" -> "metadata.yaml".
  std::map<std::string, std::string> origins;

  /// One line of JSON, for a blob and for a frame's metadata.
  std::string to_json() const;
  /// Throws Error(kInvalidArgument).
  static ModelCard from_json(const std::string& text);
};

/// Key in a blob's model_info for the model's card as JSON.
inline constexpr const char* kCardKey = "npu_card";
/// Key in a blob's model_info for the picture that its graph scales to itself, as "640x360".
inline constexpr const char* kPictureSizeKey = "npu_picture_size";
/// Key in a blob's model_info for the order of the channels that its graph takes, where that is
/// "BGR".
inline constexpr const char* kChannelsKey = "npu_channels";

/// Reads the card from all sources; the first that sets a field wins: the model's .modelinfo,
/// metadata.yaml, the IR's `model_info` (Model::model_info()), config.json,
/// preprocessor_config.json, inference.yml and labels.txt, all beside the model. A blob's
/// `model_info` may hold the IR's whole card, which then comes right after the blob's .modelinfo. A
/// YOLO with metadata.yaml gets the pre-processing of Ultralytics' YOLOs where no source has one.
/// An empty `model`, as Model::path() of a model in memory, has only its model_info. Throws Error
/// that names file and key.
NPU_API ModelCard read_model_card(const std::filesystem::path& model,
                                  const std::map<std::string, std::string>& model_info);

/// Fields of `user` where they are set, else those of `model`.
NPU_API ModelCard merged(const ModelCard& user, const ModelCard& model);

/// Applies resize mode, border, channel order, mean and scale where the card has them; other fields
/// keep what Model::default_preprocess() gave. Mean and scale are only replaced together.
NPU_API void apply(const ModelCard& card, npu::Preprocess* preprocess);

/// The shape of the model's first input, a picture, with a batch of 1 and, where sizes are open,
/// the size to which its graph scales the picture, else the card's. Empty where nothing is open, or
/// neither has a size.
NPU_API Shape input_shape(const ModelCard& card, const Model& model);

}  // namespace npu::vision
