#include "sources.hpp"

namespace npu::vision {
namespace {

/// Reads a factor such as "1./255.", as PaddleOCR writes it.
double factor_of(const Value& value) {
  constexpr double kLargest = 1000;
  if (value.is_text()) {
    const std::string text = value.text();
    if (text == "1./255." || text == "1.0/255.0" || text == "1/255") return 1.0 / 255;
  }
  return value.number(CardLimits::kSmallScale, kLargest);
}

/// Reads the step after which the model sees (x * scale - mean) / std, x in grey levels.
void read_normalisation(const Value& step, ModelCard* card) {
  const auto scale = step.find("scale"), mean = step.find("mean"), std = step.find("std");
  const double factor = scale ? factor_of(*scale) : 1.0 / 255;
  constexpr std::size_t kMost = CardLimits::kChannels;
  set_normalisation(step, mean ? mean->numbers(-1000, 1000, kMost) : std::vector<float>(),
                    std ? std->numbers(0.001, 1000, kMost) : std::vector<float>(), factor, 0, card);
}

/// Reads the step that scales lines of text to the input's height, aligned left. Pixels become x /
/// 127.5 - 1, and 0 beyond the line.
void read_line_size(const Value& step, ModelCard* card) {
  if (const auto shape = step.find("image_shape")) {
    const auto sides = shape->items();
    if (sides.size() != 3) {
      shape->refuse("is not [channels, height, width]");
    }
    card->input_height = sides[1].whole(1, CardLimits::kPixels);
    card->input_width = sides[2].whole(1, CardLimits::kPixels);
  }
  constexpr float kMiddle = 127.5F;
  card->mean = card->scale = {kMiddle};
  card->resize = ResizeMode::kFitToWindow;
  card->pad_value = kMiddle;
}

void read_steps(const Value& root, ModelCard* card) {
  const auto steps = root.find("PreProcess", "transform_ops");
  if (!steps) return;
  for (const Value& step : steps->items()) {
    if (!step.is_map()) continue;  // the step has no settings
    if (const auto decode = step.find("DecodeImage")) {
      const auto mode = decode->find("img_mode");
      card->channels = mode && mode->text() == "RGB" ? ChannelOrder::kRGB : ChannelOrder::kBGR;
    }
    if (const auto normalise = step.find("NormalizeImage")) {
      read_normalisation(*normalise, card);
    }
    if (const auto line = step.find("RecResizeImg")) {
      read_line_size(*line, card);
    }
  }
}

/// Reads the settings of DBPostProcess.
void read_text_boxes(const Value& post_process, ModelCard* card) {
  const auto read = [&](const char* key, double highest, std::optional<float>* to) {
    if (const auto value = post_process.find(key)) {
      *to = static_cast<float>(value->number(0, highest));
    }
  };
  constexpr double kMostUnclip = 10;
  read("thresh", 1, &card->pixel_threshold);
  read("box_thresh", 1, &card->confidence_threshold);
  read("unclip_ratio", kMostUnclip, &card->unclip_ratio);
  if (const auto dilates = post_process.find("use_dilation")) {
    card->use_dilation = dilates->flag();
  }
}

}  // namespace

ModelCard card_of_paddle(const Value& root) {
  ModelCard card;
  if (const auto name = root.find("Global", "model_name")) {
    card.architecture = name->text();
  }
  const auto decoder = root.find("PostProcess", "name");
  const std::string name = decoder ? decoder->text() : "";
  if (name == "CTCLabelDecode") {
    card.task = Task::kReadText;
    card.family = Family::kCtc;
    if (!card.architecture.empty()) {
      // PaddleOCR's own exports, which others only describe in its words, end in a softmax.
      card.channels_first = false;
      card.raw_scores = true;
    }
  } else if (name == "DBPostProcess") {
    card.task = Task::kFindText;
    card.family = Family::kTextBoxes;
    read_text_boxes(*root.find("PostProcess"), &card);
  }
  if (const auto characters = root.find("PostProcess", "character_dict")) {
    card.characters = characters->texts(CardLimits::kLabels);
  }
  read_steps(root, &card);
  return card;
}

ModelCard card_of_inference_yml(const std::string& text, const std::string& place) {
  const Tree tree = parse_yaml(text, place);
  return card_of_paddle(Value(tree, Value::Scalars::kText, place));
}

ModelCard card_of_config(const std::string& text, const std::string& place) {
  const Tree tree = parse_json(text, place);
  const Value root(tree, Value::Scalars::kTyped, place);
  return root.find("PostProcess") ? card_of_paddle(root) : card_of_hugging_face(root);
}

}  // namespace npu::vision
