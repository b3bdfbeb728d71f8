// Reads a line of text from left to right: each step has a probability for each character.
#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "families.hpp"
#include "values.hpp"

namespace npu::vision {
namespace {

// Words for the class between characters, or between two equal ones: PaddleOCR's, EasyOCR's,
// Hugging Face's tokenizers'.
constexpr std::array<std::string_view, 3> kBlanks{"blank", "[blank]", "<blank>"};
constexpr std::string_view kDash = "-";  // LPRNet's, at the end of its list

/// Axes of a line's tensor; the third has the size 1.
struct Layout {
  std::size_t step, character;
};
// PaddleOCR's, recurrent networks', LPRNet's.
constexpr Layout kLayouts[] = {{1, 2}, {0, 2}, {2, 1}};

/// The dictionary, else the labels of a model that is said to read text.
const std::vector<std::string>& characters_of(const ModelCard& card) {
  const bool reads = card.task == Task::kReadText || card.family == Family::kCtc;
  return card.characters.empty() && reads ? card.labels : card.characters;
}

std::optional<std::size_t> word_for_blank(const std::vector<std::string>& characters) {
  const auto found =
      std::find_first_of(characters.begin(), characters.end(), kBlanks.begin(), kBlanks.end());
  if (found == characters.end()) return std::nullopt;
  return static_cast<std::size_t>(found - characters.begin());
}

/// The blank among as many entries as classes: a word for it, else a dash at one end.
std::optional<std::size_t> own_blank(const std::vector<std::string>& characters) {
  if (const auto word = word_for_blank(characters)) return word;
  if (characters.empty()) return std::nullopt;
  const bool is_first = characters.front() == kDash, is_last = characters.back() == kDash;
  if (is_first == is_last) return std::nullopt;
  return is_first ? 0 : characters.size() - 1;
}

// PaddleOCR's readers may add a space after the last character of their dictionary.
bool has_characters(std::size_t classes, const ModelCard& card) {
  const auto& characters = characters_of(card);
  const std::size_t count = characters.size();
  if (classes == count) return own_blank(characters).has_value();
  if (word_for_blank(characters)) return false;
  return count > 0 && (classes == count + 1 || classes == count + 2);
}

bool lies(const TensorView& line, const Layout& layout, const ModelCard& card) {
  const std::size_t third = 3 - layout.step - layout.character;
  const bool is_told_otherwise =
      card.channels_first && *card.channels_first != (layout.character == 1);
  return line.dims.at(third) == 1 && has_characters(line.dims.at(layout.character), card) &&
         !is_told_otherwise;
}

/// Those that the sizes and the card allow.
std::vector<Layout> layouts_of(const TensorView& line, const ModelCard& card) {
  std::vector<Layout> all;
  std::copy_if(std::begin(kLayouts), std::end(kLayouts), std::back_inserter(all),
               [&](const Layout& layout) { return lies(line, layout, card); });
  // One step alone lies the same way in two of them.
  if (all.size() > 1 && line.dims[0] == 1 && line.dims[1] == 1) {
    all.erase(all.begin() + 1, all.end());
  }
  return all;
}

bool is_line(const Found&, const TensorView& output) {
  return is_float(output) && has_shape(output, {0, 0, 0}) &&
         std::count(output.dims.begin(), output.dims.begin() + 3, 1U) > 0;
}

bool fits(const Found& found, const TensorView& output) {
  return is_line(found, output) && !layouts_of(output, found.card).empty();
}

std::string refusal(const Found& found) {
  if (only_output(found, is_line) == -1) return kOtherTensors;
  const std::string count = std::to_string(characters_of(found.card).size());
  if (count == "0") {
    return "comes without the characters that it reads: set labels to them, separated by commas, "
           "or labels-file to a file with one a line, in the model's order";
  }
  const int only = only_output(found, fits);
  if (only == -2) return why_none(found, fits);
  if (only < 0) {
    return "has none for the " + count +
           " characters of the model's dictionary: give all in the model's order, without the "
           "blank where that is class 0, else with an entry blank for it";
  }
  const std::size_t ways =
      layouts_of(found.outputs[static_cast<std::size_t>(only)], found.card).size();
  return ways == 1 ? ""
                   : "could be either way round: set model-family to ctc, and tensor-layout to "
                     "channels-first where each character has a row, else to boxes-first";
}

/// The text of each class. Where labels are read, a space becomes an empty one.
std::vector<std::string> texts_of(const ModelCard& card, std::size_t classes) {
  std::vector<std::string> texts = characters_of(card);
  std::replace(texts.begin(), texts.end(), std::string(), std::string(" "));
  if (texts.size() == classes) return texts;
  texts.insert(texts.begin(), std::string(kBlanks.front()));
  texts.resize(classes, " ");
  return texts;
}

/// The dictionary may tell where it is; else it comes first.
std::size_t blank_of(const ModelCard& card, std::size_t classes) {
  const auto& characters = characters_of(card);
  return characters.size() == classes ? own_blank(characters).value_or(0) : 0;
}

class CtcDecoder : public Decoder {
 public:
  explicit CtcDecoder(const Found& found)
      : index_(static_cast<std::size_t>(only_output(found, fits))),
        made_for_(found.outputs[index_]),
        layout_(layouts_of(made_for_, found.card).front()),
        texts_(texts_of(found.card, made_for_.dims.at(layout_.character))),
        blank_(blank_of(found.card, texts_.size())),
        has_shares_(found.card.raw_scores.value_or(false)),
        has_logits_(!found.card.raw_scores.value_or(true)) {}

  Family family() const override { return Family::kCtc; }
  void decode(std::span<const TensorView> outputs, const npu::FrameGeometry& geometry,
              FrameSize frame, const DecodeOptions& options, Answer* answer) override;

 private:
  void read_line(const TensorView& line);
  bool are_shares() const;
  float score(std::span<const float> step, float best) const;

  std::size_t index_;
  TensorView made_for_;
  Layout layout_;
  std::vector<std::string> texts_;
  std::size_t blank_;
  bool has_shares_;  // is told so; logits are an error
  bool has_logits_;  // is told so, or has seen some
  std::vector<float> values_;
};

/// Reads the values step after step.
void CtcDecoder::read_line(const TensorView& line) {
  const std::size_t classes = texts_.size(), steps = line.dims.at(layout_.step);
  values_.resize(steps * classes);
  for (std::size_t step = 0; step < steps; ++step) {
    read(line, line.data + step * line.strides_bytes.at(layout_.step),
         line.strides_bytes.at(layout_.character),
         std::span(values_).subspan(step * classes, classes));
  }
}

/// A softmax ends in f16, too.
bool CtcDecoder::are_shares() const {
  constexpr float kRounding = 1e-3F;
  return std::all_of(values_.begin(), values_.end(),
                     [](float value) { return value >= -kRounding && value <= 1 + kRounding; });
}

float CtcDecoder::score(std::span<const float> step, float best) const {
  if (!has_logits_) return probability(best);
  double sum = 0;
  for (const float value : step) sum += std::exp(static_cast<double>(value) - best);
  return static_cast<float>(1 / sum);
}

// Takes the likeliest class of each step; equal neighbours are one character.
void CtcDecoder::decode(std::span<const TensorView> outputs, const npu::FrameGeometry&, FrameSize,
                        const DecodeOptions& options, Answer* answer) {
  answer->clear();
  check_memory(outputs[index_], made_for_);
  read_line(outputs[index_]);
  if (!are_finite(values_)) return leave_undefined(answer);
  has_logits_ = has_logits_ || (!has_shares_ && !are_shares());
  const std::size_t classes = texts_.size();
  std::size_t before = blank_, read_characters = 0;
  double sum = 0;
  for (std::size_t first = 0; first < values_.size(); first += classes) {
    const auto step = std::span(values_).subspan(first, classes);
    const auto best = std::max_element(step.begin(), step.end());
    const auto character = static_cast<std::size_t>(best - step.begin());
    const float share = score(step, *best);
    if (character != blank_ && character != before) {
      answer->text += texts_[character];
      sum += static_cast<double>(share);
      ++read_characters;
    }
    before = character;
  }
  if (read_characters == 0) return;
  answer->text_confidence = static_cast<float>(sum / static_cast<double>(read_characters));
  if (*answer->text_confidence < options.confidence_threshold) {
    answer->clear();
  }
}

std::unique_ptr<Decoder> make(const Found& found) {
  return std::make_unique<CtcDecoder>(found);
}

constexpr std::array kTasks{Task::kReadText};

}  // namespace

const Contract kCtcContract{Family::kCtc, kTasks,
                            "[1, steps, 1 + characters], [steps, 1, 1 + characters] or "
                            "[1, 1 + characters, steps]",
                            refusal, make};

}  // namespace npu::vision
