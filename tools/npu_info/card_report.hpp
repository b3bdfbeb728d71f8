#pragma once

#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include <npuvision/model_card.hpp>

/// The card of a model, or the reason why it cannot be read.
struct CardReport {
  std::optional<npu::vision::ModelCard> card;
  std::string error;
  std::string picture;  ///< a sentence where the graph scales its picture itself
  std::string doubts;   ///< a line for each step that the graph may do itself
};

CardReport read_card(const std::filesystem::path& model,
                     const std::map<std::string, std::string>& model_info);
/// Steps of pre-processing that the model's graph does itself come from "the graph".
CardReport read_card(const npu::Model& model);
/// Adds `card` and `card_error`, one of which is null.
void add_json(const CardReport& report, nlohmann::ordered_json* json);
/// One line for each value, with the file or section that it comes from.
std::string to_text(const CardReport& report);
