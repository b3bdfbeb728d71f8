#include "labels.hpp"

#include <algorithm>
#include <filesystem>
#include <map>

#include <npucore/error.hpp>
#include <npucore/model.hpp>
#include <npuvision/labels.hpp>
#include <npuvision/model_card.hpp>

#include "config/keys.hpp"

#include "found.hpp"
#include "launch_line.hpp"

namespace npustream {
namespace {

using Labels = std::vector<std::string>;

/// As nputensordec takes them; empty: not known.
Labels labels_of(const Json& model, const std::filesystem::path& folder) {
  try {
    if (model.contains("labels")) return model["labels"].get<Labels>();
    if (model.contains("labels-file")) {
      return npu::vision::read_labels_file(folder / model["labels-file"].get<std::string>());
    }
    const std::filesystem::path file = folder / model["model"].get<std::string>();
    if (file.extension() != ".xml") return npu::vision::read_model_card(file, {}).labels;
    return npu::vision::read_model_card(file, npu::Model::read(file).model_info()).labels;
  } catch (const npu::Error&) {  // the stream itself tells what is wrong
    return {};
  }
}

std::string sentence(const std::string& key, const std::string& label, const std::string& model,
                     const Labels& known) {
  constexpr std::size_t kMostListed = 10;
  std::string text = key + ": the model " + model + " has no label " + label;
  if (const std::string like = nearest(known, label); !like.empty()) {
    return text + "; did you mean " + like + "?";
  }
  text += "; it has ";
  for (std::size_t i = 0; i < std::min(known.size(), kMostListed); ++i)
    text += (i > 0 ? ", " : "") + known[i];
  return text + (known.size() > kMostListed ? ", ..." : "");
}

Json on_of(const Json& keys) {
  const bool has_keys = keys.contains("record") && keys["record"].is_object();
  return has_keys ? keys["record"].value("on", Json::array()) : Json::array();
}

}  // namespace

std::vector<std::pair<std::string, std::string>> label_warnings(const Config& config) {
  std::vector<std::pair<std::string, std::string>> warnings;
  std::map<std::string, Labels> read;  // by model
  for (const StreamConfig& stream : config.streams) {
    const Json on = on_of(stream.json);
    const auto is_event = [](const Json& word) { return is_count_event(word.get<std::string>()); };
    if (!on.empty() && !has_places(stream) && std::all_of(on.begin(), on.end(), is_event)) {
      warnings.emplace_back(stream.id,
                            "record.on: nothing begins a clip: the stream has no zones and lines");
    }
    Json named = Json::array();  // {key, label}
    for (const Json& label : stream.json.value("labels", Json::array()))
      named.push_back({"labels", label});
    for (const Json& word : on) {
      if (!is_event(word)) {
        named.push_back({"record.on", word});
      }
    }
    if (named.empty()) continue;
    const std::string model = first_model(stream);
    const auto [at, is_new] = read.try_emplace(model);
    if (is_new) {
      at->second = labels_of(config.models.at(model), stream.folder);
    }
    const Labels& known = at->second;
    for (const Json& one : named) {
      const auto label = one[1].get<std::string>();
      if (known.empty() || std::find(known.begin(), known.end(), label) != known.end()) continue;
      warnings.emplace_back(stream.id, sentence(one[0].get<std::string>(), label, model, known));
    }
  }
  return warnings;
}

}  // namespace npustream
