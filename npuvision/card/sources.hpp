// Readers for the files beside a model, and for the IR itself. Each gives a card without origins,
// and throws Error(kInvalidArgument) that names `place` and key. Unknown names of tasks and
// architectures are no error: their fields stay empty.
#pragma once

#include <map>
#include <string>

#include <npuvision/model_card.hpp>

#include "model_info.hpp"
#include "value.hpp"

namespace npu::vision {

/// Reads metadata.yaml of Ultralytics' export. Values may be Python literals in strings.
ModelCard card_of_metadata(const std::string& text, const std::string& place);
/// The pre-processing of every YOLO that Ultralytics exports. `metadata` is the card of
/// metadata.yaml, which does not describe it; gives nothing where that is not a YOLO's.
ModelCard preprocess_of_ultralytics(const ModelCard& metadata);
/// The resize of Ultralytics' authors where the IR says another one, or none.
ModelCard resize_of_ultralytics(const ModelCard& metadata);

/// Reads rt_info/model_info with the keys of OpenVINO's Model API, which Geti and Ultralytics write
/// too.
ModelCard card_of_model_api(const std::map<std::string, std::string>& info,
                            const std::string& place);

/// Reads hierarchical_config of the Model API: the levels of a classification's labels, and their
/// names.
void read_levels(const std::string& text, const std::string& place, ModelCard* card);

/// Reads config.json: PaddleOCR's where it has PostProcess, else Hugging Face's.
ModelCard card_of_config(const std::string& text, const std::string& place);
/// Reads config.json of transformers or timm.
ModelCard card_of_hugging_face(const Value& root);
/// Reads PaddleOCR's settings, which are in config.json or inference.yml.
ModelCard card_of_paddle(const Value& root);
/// Reads preprocessor_config.json of Hugging Face's transformers.
ModelCard card_of_preprocessor(const std::string& text, const std::string& place);
/// Reads inference.yml of PaddleOCR.
ModelCard card_of_inference_yml(const std::string& text, const std::string& place);

/// Sets mean and scale for a model that sees ((x * factor - offset) - mean) / deviation, x in grey
/// levels 0..255. An empty list leaves its field empty. Errors about values that no card may have
/// name `from`.
void set_normalisation(const Value& from, const std::vector<float>& mean,
                       const std::vector<float>& deviation, double factor, double offset,
                       ModelCard* card);

/// The card of the one output that a .modelinfo describes; empty if it describes several.
ModelCard card_of_model_info_file(const ModelInfo& info);

}  // namespace npu::vision
