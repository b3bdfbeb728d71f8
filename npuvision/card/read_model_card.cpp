// Reads everything that is known about a model from all the files that describe it.
#include <algorithm>
#include <charconv>
#include <cstdint>

#include <npucore/error.hpp>
#include <npucore/model.hpp>
#include <npuvision/labels.hpp>
#include <npuvision/model_card.hpp>

#include "fields.hpp"
#include "sources.hpp"

namespace npu::vision {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kMostYamlBytes = std::size_t{1} << 20;
constexpr std::size_t kMostJsonBytes = std::size_t{8} << 20;

/// Reads the size that Model::read() has found in the graph.
ModelCard from_graph(const std::map<std::string, std::string>& model_info) {
  const auto found = model_info.find(npu::kInnerSizeKey);
  const std::string text = found != model_info.end() ? found->second : "";
  const char* const end = text.data() + text.size();
  ModelCard card;
  std::uint32_t width = 0, height = 0;
  const char* const sign = std::from_chars(text.data(), end, width).ptr;
  if (sign != end && *sign == 'x' && std::from_chars(sign + 1, end, height).ptr == end &&
      width > 0 && height > 0 && std::max(width, height) <= CardLimits::kPixels) {
    card.inner_width = width;
    card.inner_height = height;
  }
  return signed_by("in the graph", std::move(card));
}

/// Reads a file beside the model; nullopt where there is none. Links must not lead out of the
/// folder: their target would be taken for the model's file.
std::optional<std::string> read_beside(const fs::path& folder, const char* name,
                                       std::size_t most_bytes) {
  std::error_code unknown;
  if (fs::symlink_status(folder / name, unknown).type() == fs::file_type::not_found) return {};
  return npu::read_input(name, most_bytes, folder);
}

void check_labels(const ModelCard& card, const std::string& place) {
  if (card.labels.size() > CardLimits::kLabels) {
    throw Error(ErrorCode::kInvalidArgument,
                place + ": more than " + std::to_string(CardLimits::kLabels) + " labels");
  }
}

ModelCard from_model_info_file(const fs::path& model) {
  const auto path = find_model_info(model.string());
  if (!path) return {};
  ModelCard card = card_of_model_info_file(read_model_info(*path));
  check_labels(card, *path);
  return signed_by(fs::path(*path).filename().string(), std::move(card));
}

ModelCard from_card_in(const std::map<std::string, std::string>& model_info,
                       const std::string& model) {
  const auto found = model_info.find(kCardKey);
  if (found == model_info.end()) return {};
  return signed_by(kCardKey, card_from_json(found->second, model + ": " + kCardKey));
}

ModelCard from_file(const fs::path& folder, const char* name, std::size_t most_bytes,
                    ModelCard (*card_of)(const std::string& text, const std::string& place)) {
  const auto text = read_beside(folder, name, most_bytes);
  if (!text) return {};
  return signed_by(name, card_of(*text, (folder / name).string()));
}

/// A resize of metadata.yaml goes along with any other steps.
bool says_preprocess(const ModelCard& card) {
  const auto resize = card.origins.find("resize");
  return (is_said(card.resize) && resize->second != "metadata.yaml") || is_said(card.pad_value) ||
         is_said(card.channels) || is_said(card.mean) || is_said(card.scale);
}

ModelCard from_labels_file(const fs::path& folder) {
  constexpr const char* kName = "labels.txt";
  std::error_code unknown;
  if (fs::symlink_status(folder / kName, unknown).type() == fs::file_type::not_found) return {};
  ModelCard card;
  card.labels = read_labels_file(kName, folder.string());
  check_labels(card, (folder / kName).string());
  return signed_by(kName, std::move(card));
}

ModelCard card_in_memory(const std::map<std::string, std::string>& model_info) {
  constexpr const char* kModel = "the model in memory";
  constexpr const char* kInfo = "the model in memory: model_info";
  return merged(from_card_in(model_info, kModel),
                signed_by("model_info", card_of_model_api(model_info, kInfo)));
}

}  // namespace

ModelCard card_of_model_info_file(const ModelInfo& info) {
  constexpr const char* kYolo = "yolo-v8-out";
  const ModelInfoTensor* output = info.find_output_by_id(kYolo);
  std::size_t outputs = 0;
  for (const ModelInfoTensor& tensor : info.tensors) {
    if (tensor.is_input) continue;
    ++outputs;
    if (output == nullptr) {
      output = &tensor;
    }
  }
  ModelCard card;
  if (output == nullptr || (outputs > 1 && output->id != kYolo)) return card;
  if (output->id == kYolo) {
    card.task = Task::kDetect;
    card.family = Family::kYolo;
  }
  card.output = output->name;
  if (output->is_column_major) {
    card.channels_first = true;
  }
  card.labels = output->labels;
  if (output->confidence_threshold) {
    card.confidence_threshold = static_cast<float>(*output->confidence_threshold);
  }
  if (output->iou_threshold) {
    card.iou_threshold = static_cast<float>(*output->iou_threshold);
  }
  return card;
}

ModelCard read_model_card(const fs::path& model,
                          const std::map<std::string, std::string>& model_info) {
  if (model.empty()) return card_in_memory(model_info);
  const fs::path folder = model.has_parent_path() ? model.parent_path() : fs::path(".");
  ModelCard card = from_model_info_file(model);
  const auto add = [&card](const ModelCard& weaker) { card = merged(card, weaker); };
  add(from_graph(model_info));
  add(from_card_in(model_info, model.string()));
  const ModelCard metadata = from_file(folder, "metadata.yaml", kMostYamlBytes, card_of_metadata);
  add(metadata);
  add(signed_by("metadata.yaml", resize_of_ultralytics(metadata)));
  add(signed_by("model_info", card_of_model_api(model_info, model.string() + ": model_info")));
  add(from_file(folder, "config.json", kMostJsonBytes, card_of_config));
  add(from_file(folder, "preprocessor_config.json", kMostJsonBytes, card_of_preprocessor));
  add(from_file(folder, "inference.yml", kMostYamlBytes, card_of_inference_yml));
  add(from_labels_file(folder));
  // Exports have it in the IR; models converted another way have lost it.
  if (!says_preprocess(card)) {
    add(signed_by("metadata.yaml", preprocess_of_ultralytics(metadata)));
  }
  return card;
}

}  // namespace npu::vision
