#include "card_report.hpp"

#include <sstream>

#include <npucore/error.hpp>

namespace {

using nlohmann::ordered_json;

/// Quotes words with line breaks, as in JSON: they would look like lines of this report.
std::string word_of(const ordered_json& value) {
  if (!value.is_string()) return value.dump();
  auto word = value.get<std::string>();
  return word.find('\n') == std::string::npos ? word : value.dump();
}

/// The first entries of a long list, and their number.
std::string words_of(const ordered_json& value) {
  constexpr std::size_t kShown = 8;
  if (!value.is_array()) return word_of(value);
  std::string words;
  for (std::size_t i = 0; i < std::min(value.size(), kShown); ++i) {
    words += (i == 0 ? "" : ", ") + word_of(value[i]);
  }
  return value.size() <= kShown ? words : words + ", ... (" + std::to_string(value.size()) + ")";
}

ordered_json json_of(const npu::vision::ModelCard& card) {
  return ordered_json::parse(card.to_json());
}

}  // namespace

CardReport read_card(const std::filesystem::path& model,
                     const std::map<std::string, std::string>& model_info) {
  CardReport report;
  try {
    report.card = npu::vision::read_model_card(model, model_info);
  } catch (const npu::Error& error) {
    report.error = error.what();
  }
  return report;
}

CardReport read_card(const npu::Model& model) {
  CardReport report = read_card(model.path(), model.model_info());
  if (!report.card) return report;
  if (const auto size = model.own_picture_size()) {
    report.picture = "the graph scales its picture to " + std::to_string(size->first) + "x" +
                     std::to_string(size->second) + " itself\n";
  }
  try {
    npu::Model sized = model;
    if (const auto shape = npu::vision::input_shape(*report.card, model); !shape.empty()) {
      sized.reshape({{model.inputs().front().name, shape}});
    }
    npu::Preprocess steps;
    npu::vision::apply(*report.card, &steps);
    const npu::Preprocess said = steps;
    std::map<std::string, std::string> doubts;
    sized.leave_out_own_steps(&steps, &doubts);
    for (const auto& [step, doubt] : doubts) report.doubts += "  warning " + doubt + '\n';
    auto& origins = report.card->origins;
    if (steps.mean != said.mean) {
      origins["mean"] = "in the graph";
    }
    if (steps.scale != said.scale) {
      origins["scale"] = "in the graph";
    }
    if (steps.channels != said.channels) {
      origins["channels"] = "in the graph";
      report.card->channels = steps.channels;
    }
  } catch (const npu::Error&) {
    // It takes no picture.
  }
  return report;
}

void add_json(const CardReport& report, ordered_json* json) {
  (*json)["card"] = report.card ? json_of(*report.card) : ordered_json(nullptr);
  (*json)["card_error"] = report.card ? ordered_json(nullptr) : ordered_json(report.error);
}

std::string to_text(const CardReport& report) {
  if (!report.card) return "what is known of the model cannot be read: " + report.error + '\n';
  const auto& origins = report.card->origins;
  if (origins.empty()) return "nothing is known of what the model is for\n";
  std::ostringstream out;
  out << "what is known of the model:\n";
  const auto json = json_of(*report.card);
  for (const auto& [key, value] : json.items()) {
    const auto origin = origins.find(key);
    if (origin == origins.end()) continue;
    out << "  " << key << std::string(key.size() < 22 ? 22 - key.size() : 1, ' ') << words_of(value)
        << "  (" << origin->second << ")\n";
  }
  out << report.picture << report.doubts;
  return out.str();
}
