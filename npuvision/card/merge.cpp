// Merges cards, and applies a card to npucore's own pre-processing.
#include <algorithm>

#include "fields.hpp"

namespace npu::vision {
namespace {

/// Drops fields that only make sense together with others which the stronger card replaces.
ModelCard without_what_contradicts(ModelCard card, const ModelCard& stronger) {
  const bool other_task =
      is_said(stronger.task) && is_said(card.task) && stronger.task != card.task;
  const bool other_family =
      is_said(stronger.family) && is_said(card.family) && stronger.family != card.family;
  if (other_task) {
    card.family = Family::kAuto;
  }
  if (other_task || other_family) {
    card.end_to_end.reset();
    card.anchors.clear();
    card.channels_first.reset();
    card.multilabel.reset();
    card.level_values.clear();
    card.exclusive_groups = 0;
    card.level_parents.clear();
    card.raw_scores.reset();
  }
  if (is_said(stronger.labels)) {
    card.characters.clear();  // a text reader's labels are its characters
  }
  if (is_said(stronger.resize)) {
    card.crop_share.reset();
  }
  if (is_said(stronger.mean) || is_said(stronger.scale)) {
    card.mean.clear();
    card.scale.clear();
  }
  if (is_said(stronger.key_points) && stronger.key_points != card.key_points) {
    card.key_point_values = 0;
    card.key_point_names.clear();
    card.skeleton.clear();
  }
  return card;
}

void copy_origin(const std::string& key, const ModelCard& from, ModelCard* to) {
  if (const auto found = from.origins.find(key); found != from.origins.end()) {
    to->origins[key] = found->second;
  }
}

}  // namespace

ModelCard merged(const ModelCard& user, const ModelCard& model) {
  const ModelCard rest = without_what_contradicts(model, user);
  ModelCard card;
  for_each_field([&](const auto& field) {
    const ModelCard& source = is_said(user.*field.member) ? user : rest;
    if (!is_said(source.*field.member)) return;
    card.*field.member = source.*field.member;
    copy_origin(field.name, source, &card);
  });
  return card;
}

/// Also shortens the architecture to the length of a name: it is for people, and goes along with
/// every frame.
ModelCard signed_by(const std::string& origin, ModelCard card) {
  constexpr std::size_t kMostBytes = 256;
  card.architecture = shortened(card.architecture, kMostBytes);
  card.unknown = shortened(card.unknown, kMostBytes);
  for_each_field([&](const auto& field) {
    if (is_said(card.*field.member)) {
      card.origins.try_emplace(field.name, origin);
    }
  });
  return card;
}

void apply(const ModelCard& card, npu::Preprocess* preprocess) {
  preprocess->resize = card.resize.value_or(preprocess->resize);
  preprocess->crop_share = card.crop_share.value_or(preprocess->crop_share);
  preprocess->pad_value = card.pad_value.value_or(preprocess->pad_value);
  preprocess->channels = card.channels.value_or(preprocess->channels);
  if (is_said(card.mean) || is_said(card.scale)) {
    preprocess->mean = card.mean;
    preprocess->scale = card.scale;
  }
}

Shape input_shape(const ModelCard& card, const Model& model) {
  const Shape open = model.inputs().front().shape;
  const auto is_open = [](std::int64_t size) { return size < 0; };
  const bool has_open = std::any_of(open.begin(), open.end(), is_open);
  if (!has_open || open.size() != 4) return {};
  const auto own = model.own_picture_size();
  if (!own && (!card.input_width || !card.input_height)) return {};
  const auto are_channels = [&](std::size_t at) { return open[at] == 1 || open[at] == 3; };
  const std::int64_t height = own ? own->second : *card.input_height;
  const std::int64_t width = own ? own->first : *card.input_width;
  Shape shape = !are_channels(1) && are_channels(3) ? Shape{1, height, width, open[3]}
                                                    : Shape{1, 3, height, width};
  for (std::size_t i = 0; i < shape.size(); ++i) {
    if (!is_open(open[i])) {
      shape[i] = open[i];
    }
  }
  return shape;
}

}  // namespace npu::vision
