// What each file beside a model, and the IR itself, say of it. Each gives a card without origins,
// and throws Error(kInvalidArgument) that names `place` and key. What they do not know they leave
// open: names of tasks and architectures that are new are no error.
#pragma once

#include <map>
#include <string>

#include <npuvision/model_card.hpp>

#include "model_info.hpp"
#include "value.hpp"

namespace npu::vision {

/// The metadata.yaml that Ultralytics' export writes. Values may be Python literals in strings.
ModelCard card_of_metadata(const std::string& text, const std::string& place);
/// How a frame becomes the input of every YOLO that Ultralytics exports. `metadata` is the card of
/// metadata.yaml, which does not say it; nothing where that is of no YOLO.
ModelCard preprocess_of_ultralytics(const ModelCard& metadata);
/// That of its classifiers, whatever else the IR says.
ModelCard crop_of_ultralytics(const ModelCard& metadata);

/// rt_info/model_info with the keys of OpenVINO's Model API, which Geti and Ultralytics write too.
ModelCard card_of_model_api(const std::map<std::string, std::string>& info,
                            const std::string& place);

/// hierarchical_config of the same: the levels of a classification's labels, and their names.
void read_levels(const std::string& text, const std::string& place, ModelCard* card);

/// config.json: of PaddleOCR where it has PostProcess, else of Hugging Face.
ModelCard card_of_config(const std::string& text, const std::string& place);
/// Of transformers, or of timm.
ModelCard card_of_hugging_face(const Value& root);
/// PaddleOCR's settings, which stand in config.json or inference.yml.
ModelCard card_of_paddle(const Value& root);
/// preprocessor_config.json of Hugging Face's transformers.
ModelCard card_of_preprocessor(const std::string& text, const std::string& place);
/// inference.yml of PaddleOCR.
ModelCard card_of_inference_yml(const std::string& text, const std::string& place);

/// Mean and scale of a model that sees ((x * factor - offset) - mean) / deviation, x in grey levels
/// 0..255, and nothing for what is empty. `from` is blamed for values that no card may have.
void set_normalisation(const Value& from, const std::vector<float>& mean,
                       const std::vector<float>& deviation, double factor, double offset,
                       ModelCard* card);

/// The one output that a .modelinfo describes, if it is one.
ModelCard card_of_model_info_file(const ModelInfo& info);

}  // namespace npu::vision
