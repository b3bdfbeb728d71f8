#include <algorithm>
#include <cmath>
#include <string_view>
#include <utility>

#include "sources.hpp"

namespace npu::vision {
namespace {

struct Architecture {
  std::string_view name;
  Task task;
  Family family;
  std::optional<bool> multilabel = std::nullopt;
};
// DETR itself ends in a softmax over classes and background, its successors in a sigmoid for each
// class. Other models for object detection may have other outputs.
constexpr Architecture kArchitectures[] = {
    {"DetrForObjectDetection", Task::kDetect, Family::kDetr, false},
    {"TableTransformerForObjectDetection", Task::kDetect, Family::kDetr, false},
    {"DFineForObjectDetection", Task::kDetect, Family::kDetr, true},
    {"RTDetrForObjectDetection", Task::kDetect, Family::kDetr, true},
    {"RTDetrV2ForObjectDetection", Task::kDetect, Family::kDetr, true},
    {"RtDetrV2ForObjectDetection", Task::kDetect, Family::kDetr, true},
    {"RfDetrForObjectDetection", Task::kDetect, Family::kDetr, true},
    // Their files do not tell whether classes of places are wanted, or objects.
    {"MaskFormerForInstanceSegmentation", Task::kUnknown, Family::kMaskQueries},
    {"Mask2FormerForUniversalSegmentation", Task::kUnknown, Family::kMaskQueries},
    {"OneFormerForUniversalSegmentation", Task::kUnknown, Family::kMaskQueries},
    {"RfDetrForInstanceSegmentation", Task::kSegment, Family::kDetr, true},
    // The encoder of pictures often comes with the card of both.
    {"CLIPModel", Task::kEmbed, Family::kEmbedding},
    {"SiglipModel", Task::kEmbed, Family::kEmbedding},
    {"SiglipVisionModel", Task::kEmbed, Family::kEmbedding},
    {"CLIPVisionModel", Task::kEmbed, Family::kEmbedding},
    {"CLIPVisionModelWithProjection", Task::kEmbed, Family::kEmbedding},
};
// Endings of tasks whose outputs are the same for all models.
constexpr Architecture kEndings[] = {
    {"ForImageClassification", Task::kClassify, Family::kClassification},
    {"ForSemanticSegmentation", Task::kSemantic, Family::kSegmentation},
    {"ForDepthEstimation", Task::kDepth, Family::kDepth},
};

const Architecture* find_architecture(std::string_view name) {
  for (const Architecture& known : kArchitectures) {
    if (name == known.name) return &known;
  }
  for (const Architecture& known : kEndings) {
    if (name.ends_with(known.name)) return &known;
  }
  return nullptr;
}

void read_architecture(const Value& root, ModelCard* card) {
  constexpr std::size_t kMost = 16;
  const auto architectures = root.find("architectures");
  if (!architectures) return;
  const auto names = architectures->texts(kMost);
  if (names.empty()) return;
  card->architecture = names.front();
  if (const Architecture* known = find_architecture(names.front())) {
    card->task = known->task;
    card->family = known->family;
    card->multilabel = known->multilabel;
  }
}

/// RT-DETR may also be trained with a softmax.
void read_focal_loss(const Value& root, ModelCard* card) {
  const auto focal = root.find("use_focal_loss");
  if (focal && card->family == Family::kDetr) {
    card->multilabel = focal->flag();
  }
}

/// Classifications have a softmax unless problem_type says otherwise.
void read_problem_type(const Value& root, ModelCard* card) {
  const auto problem = root.find("problem_type");
  if (!problem || card->family != Family::kClassification) return;
  const std::string name = problem->text();
  if (name == "regression") {
    card->raw_scores = true;  // rejects values that are not probabilities
  } else {
    card->multilabel = name == "multi_label_classification";
  }
}

/// Models without label names have LABEL_0, LABEL_1, ...
bool are_placeholders(const std::vector<std::string>& labels) {
  for (std::size_t i = 0; i < labels.size(); ++i) {
    if (labels[i] != "LABEL_" + std::to_string(i)) return false;
  }
  return true;
}

void read_labels(const Value& root, ModelCard* card) {
  if (const auto labels = root.find("id2label")) {
    card->labels = labels->labels();
  } else if (const auto names = root.find("label_names")) {
    card->labels = names->texts(CardLimits::kLabels);
    const auto descriptions = root.find("label_descriptions");
    for (std::string& label : card->labels) {
      const auto found = descriptions ? descriptions->find(label) : std::nullopt;
      if (found) {
        label = found->text();
      }
    }
  }
  if (are_placeholders(card->labels)) {
    card->labels.clear();
  }
}

std::vector<float> means_of(const Value& value) {
  return value.numbers(-1000, 1000, CardLimits::kChannels);
}
std::vector<float> deviations_of(const Value& value) {
  return value.numbers(0.001, 1000, CardLimits::kChannels);
}

/// The crop's share: a side of the model's input over the side of the picture it is cut from.
void set_crop(const Value& from, std::uint32_t side, std::uint32_t whole, ModelCard* card) {
  if (side > whole || side == 0) return;
  if (side < CardLimits::kLeastCropShare * whole) {
    from.refuse("cuts " + std::to_string(side) + " pixels out of " + std::to_string(whole) +
                ", less than a thousandth");
  }
  card->resize = ResizeMode::kCrop;
  card->crop_share = static_cast<float>(side) / static_cast<float>(whole);
}

std::uint32_t side_before(std::uint32_t side, double share) {
  return static_cast<std::uint32_t>(std::floor(side / share));
}

constexpr double kLeastShare = 0.01, kMostShare = 100;  // range of crop_pct

/// timm scales the shorter side to input / crop_pct, rounded down, and takes the middle.
void read_timm_crop(const Value& config, ModelCard* card) {
  const auto share = config.find("crop_pct"), mode = config.find("crop_mode");
  if (!share || (mode && mode->text() != "center")) return;
  const std::uint32_t side = std::min(*card->input_width, *card->input_height);
  set_crop(*share, side, side_before(side, share->number(kLeastShare, kMostShare)), card);
}

/// Reads timm's `pretrained_cfg`.
void read_timm(const Value& root, ModelCard* card) {
  const auto config = root.find("pretrained_cfg");
  if (!config) return;
  if (const auto architecture = root.find("architecture")) {
    card->architecture = architecture->text();
  }
  const auto classes = root.find("num_classes");
  const bool embeds = classes && classes->whole(0, CardLimits::kLabels) == 0;
  card->task = embeds ? Task::kEmbed : Task::kClassify;
  card->family = embeds ? Family::kEmbedding : Family::kClassification;
  card->channels = ChannelOrder::kRGB;
  const auto mean = config->find("mean"), std = config->find("std");
  if (mean || std) {
    set_normalisation(*config, mean ? means_of(*mean) : std::vector<float>(),
                      std ? deviations_of(*std) : std::vector<float>(), 1.0 / 255, 0, card);
  }
  if (const auto size = config->find("input_size")) {
    const auto sides = size->items();
    if (sides.size() != 3) {
      size->refuse("is not [channels, height, width]");
    }
    card->input_height = sides[1].whole(1, CardLimits::kPixels);
    card->input_width = sides[2].whole(1, CardLimits::kPixels);
    read_timm_crop(*config, card);
  }
}

bool flag_or(const Value& root, const char* key, bool fallback) {
  const auto value = root.find(key);
  return value ? value->flag() : fallback;
}

bool is_made_by(const Value& root, std::string_view model) {
  const auto type = root.find("image_processor_type"), old = root.find("feature_extractor_type");
  const auto& said = type ? type : old;
  return said && said->text().starts_with(model);
}

/// EfficientNet's processor divides by image_std twice, unless it is told that the model has no
/// classes.
bool divides_twice(const Value& root) {
  return flag_or(root, "include_top",
                 is_made_by(root, "EfficientNetImageProcessor"));  // or ...Fast
}

std::vector<float> squares_of(std::vector<float> values) {
  for (float& value : values) value *= value;
  return values;
}

void read_values(const Value& root, ModelCard* card) {
  const auto mean = root.find("image_mean"), std = root.find("image_std"),
             factor = root.find("rescale_factor");
  if (!mean && !std && !factor && !root.find("do_rescale")) return;
  const bool rescales = flag_or(root, "do_rescale", true);
  const bool normalises = flag_or(root, "do_normalize", mean || std);
  const double by =
      !rescales ? 1.0 : (factor ? factor->number(CardLimits::kSmallScale, 1000) : 1.0 / 255);
  const double offset = rescales && flag_or(root, "rescale_offset", false) ? 1 : 0;
  std::vector<float> deviations = normalises && std ? deviations_of(*std) : std::vector<float>();
  if (divides_twice(root)) {
    deviations = squares_of(std::move(deviations));
  }
  set_normalisation(root, normalises && mean ? means_of(*mean) : std::vector<float>(), deviations,
                    by, offset, card);
}

/// Shorter side of pictures that keep their aspect ratio. For DeiT a single number means a square
/// instead.
std::optional<std::uint32_t> shortest_edge(const Value& root) {
  const auto size = root.find("size");
  if (!size) return {};
  const bool is_map = size->is_map();
  if (!is_map && is_made_by(root, "DeiT")) return {};
  const auto edge = is_map ? size->find("shortest_edge") : size;
  return edge ? std::optional(edge->whole(1, CardLimits::kPixels)) : std::nullopt;
}

std::uint32_t side_before_crop(const Value& root, std::uint32_t edge) {
  constexpr double kOfLevit = 224.0 / 256;
  const auto share = root.find("crop_pct");
  if (share) return side_before(edge, share->number(kLeastShare, kMostShare));
  return is_made_by(root, "Levit") ? side_before(edge, kOfLevit) : edge;
}

void read_crop(const Value& root, ModelCard* card) {
  if (const auto edge = shortest_edge(root)) {
    set_crop(*root.find("size"), std::min(*card->input_width, *card->input_height),
             side_before_crop(root, *edge), card);
  }
}

/// ConvNeXt crops to the size itself; larger sizes are stretched.
void read_crop_of_size(const Value& root, ModelCard* card) {
  constexpr std::uint32_t kStretched = 384;
  const auto edge = shortest_edge(root);
  if (!edge) return;
  card->input_width = card->input_height = edge;
  card->resize = ResizeMode::kStretch;
  if (*edge < kStretched) {
    set_crop(*root.find("size"), *edge, side_before_crop(root, *edge), card);
  }
}

void read_size(const Value& root, ModelCard* card) {
  const bool crops = flag_or(root, "do_center_crop", false);
  const auto size = root.find(crops ? "crop_size" : "size");
  if (!size) return;
  // Together with max_size, a single number is the shorter side of pictures that keep their aspect
  // ratio.
  if (!crops && !size->is_map() && root.find("max_size")) return;
  if (!size->is_map()) {
    card->input_width = card->input_height = size->whole(1, CardLimits::kPixels);
  } else if (const auto width = size->find("width"), height = size->find("height");
             width && height) {
    card->input_width = width->whole(1, CardLimits::kPixels);
    card->input_height = height->whole(1, CardLimits::kPixels);
  }
  const bool resizes = flag_or(root, "do_resize", true);
  if (resizes && !crops && root.find("crop_pct")) return read_crop_of_size(root, card);
  if (resizes && crops && card->input_width) {
    read_crop(root, card);
  }
  if (resizes && !crops && card->input_width && !flag_or(root, "keep_aspect_ratio", false)) {
    card->resize = ResizeMode::kStretch;
  }
}

}  // namespace

ModelCard card_of_hugging_face(const Value& root) {
  ModelCard card;
  read_architecture(root, &card);
  read_focal_loss(root, &card);
  read_problem_type(root, &card);
  read_timm(root, &card);
  read_labels(root, &card);
  return card;
}

ModelCard card_of_preprocessor(const std::string& text, const std::string& place) {
  const Tree tree = parse_json(text, place);
  const Value root(tree, Value::Scalars::kTyped, place);
  ModelCard card;
  read_values(root, &card);
  read_size(root, &card);
  const bool swaps = flag_or(root, "do_flip_channel_order", false);
  if (swaps || !card.mean.empty() || !card.scale.empty()) {
    card.channels = swaps ? ChannelOrder::kBGR : ChannelOrder::kRGB;
  }
  return card;
}

}  // namespace npu::vision
