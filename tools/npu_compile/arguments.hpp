#pragma once

#include <CLI/CLI.hpp>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include <npucore/compiled_model.hpp>
#include <npucore/frame.hpp>
#include <npucore/model.hpp>
#include <npuvision/model_card.hpp>

struct Arguments {
  std::string model, output, weights, frame, input, matrix, range, resize, mean, scale, channels;
  std::string device = "auto";
  std::optional<float> crop_share, pad_value;
  std::vector<std::string> properties, config, reshape;
  /// Properties with an option of their own: name -> value, for each given one.
  std::map<std::string, std::string> named_properties;
  std::string repair = "auto";
  bool raw = false;
  bool list_options = false;
  std::vector<std::string> targets;  ///< platforms
  bool estimate = false;
  bool why = false;

  std::filesystem::path output_path() const;
  /// All files to read.
  std::vector<std::filesystem::path> inputs() const;
  bool is_for_targets() const { return !targets.empty(); }
  bool has_id() const { return named_properties.count("CACHE_ID") != 0; }
};

void add_options(CLI::App& app, Arguments& arguments);

/// Throw npu::Error for invalid words. The model carries its card; its repairs are printed.
npu::Model model_from(const Arguments& arguments);
npu::Preprocess preprocess_from(const Arguments& arguments, const npu::Model& model,
                                const npu::vision::ModelCard& card);
npu::CompileOptions options_from(const Arguments& arguments);
