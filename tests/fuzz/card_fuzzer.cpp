// Fuzzes readers of the files that describe a model, and of cards as JSON. The first byte chooses
// the reader.
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <map>

#include <npucore/error.hpp>

#include "card/sources.hpp"

#include "mutation.hpp"

namespace {

using npu::vision::ModelCard;

const std::array<std::function<ModelCard(const std::string&)>, 6> kReaders{
    [](const std::string& text) { return npu::vision::card_of_metadata(text, "metadata.yaml"); },
    [](const std::string& text) { return npu::vision::card_of_config(text, "config.json"); },
    [](const std::string& text) { return npu::vision::card_of_preprocessor(text, "p.json"); },
    [](const std::string& text) { return npu::vision::card_of_inference_yml(text, "i.yml"); },
    [](const std::string& text) { return ModelCard::from_json(text); },
    // Lines of a key and its value.
    [](const std::string& text) {
      std::map<std::string, std::string> info;
      for (std::size_t at = 0; at < text.size();) {
        const std::size_t end = std::min(text.find('\n', at), text.size());
        const std::string line = text.substr(at, end - at);
        const std::size_t blank = std::min(line.find(' '), line.size());
        info[line.substr(0, blank)] = line.substr(std::min(blank + 1, line.size()));
        at = end + 1;
      }
      return npu::vision::card_of_model_api(info, "model_info");
    },
};

/// Whatever was read can be written, and read again.
void check(const ModelCard& card) {
  const std::string json = card.to_json();
  const ModelCard again = ModelCard::from_json(json);
  npu::Preprocess preprocess;
  npu::vision::apply(again, &preprocess);
  const ModelCard once = merged(card, again);
  if (again.to_json() == json && merged(once, again).to_json() == once.to_json()) return;
  std::fprintf(stderr, "another card comes back from: %s\n", json.c_str());
  std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto text = npu::fuzz::as_text(data, size);
  if (text.empty()) return 0;
  const auto reader = static_cast<std::size_t>(text[0] - '0') % kReaders.size();
  ModelCard card;
  try {
    card = kReaders[reader](std::string(text.substr(1)));
  } catch (const npu::Error&) {
    return 0;  // A refusal in words is what hostile files get.
  }
  try {
    check(card);
  } catch (const npu::Error& error) {
    std::fprintf(stderr, "a card that was read is refused: %s\n", error.what());
    std::abort();
  }
  return 0;
}
