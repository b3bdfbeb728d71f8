// Reads a line of text from left to right: each step has a probability for each character.
#include <algorithm>
#include <array>
#include <cmath>

#include "families.hpp"
#include "values.hpp"

namespace npu::vision {
namespace {

constexpr std::size_t kBlank = 0;  // between characters, or between two equal ones

// PaddleOCR's readers may add a space after the last character of their dictionary.
bool has_characters(std::size_t classes, const ModelCard& card) {
  const std::size_t characters = card.characters.size();
  return characters > 0 && (classes == characters + 1 || classes == characters + 2);
}

bool is_line(const Found&, const TensorView& output) {
  return is_float(output) && has_shape(output, {1, 0, 0}) && output.dims[2] > 1;
}

bool fits(const Found& found, const TensorView& output) {
  return is_line(found, output) && has_characters(output.dims[2], found.card);
}

std::string refusal(const Found& found) {
  if (only_output(found, is_line) == -1) return kOtherTensors;
  if (found.card.characters.empty()) return "comes without the characters that it reads";
  const int only = only_output(found, fits);
  if (only == -2) return why_none(only);
  return only >= 0 ? ""
                   : "has none for the " + std::to_string(found.card.characters.size()) +
                         " characters of the model's dictionary";
}

class CtcDecoder : public Decoder {
 public:
  explicit CtcDecoder(const Found& found)
      : index_(static_cast<std::size_t>(only_output(found, fits))),
        made_for_(found.outputs[index_]),
        characters_(found.card.characters) {
    if (made_for_.dims[2] == characters_.size() + 2) {
      characters_.emplace_back(" ");
    }
  }

  Family family() const override { return Family::kCtc; }
  void decode(std::span<const TensorView> outputs, const npu::FrameGeometry& geometry,
              FrameSize frame, const DecodeOptions& options, Answer* answer) override;

 private:
  std::size_t index_;
  TensorView made_for_;
  std::vector<std::string> characters_;
  std::vector<float> values_;
};

// Takes the likeliest class of each step; equal neighbours are one character.
void CtcDecoder::decode(std::span<const TensorView> outputs, const npu::FrameGeometry&, FrameSize,
                        const DecodeOptions& options, Answer* answer) {
  answer->clear();
  const TensorView& line = outputs[index_];
  check_memory(line, made_for_);
  values_.resize(line.dims[2]);
  std::size_t before = kBlank, read_characters = 0;
  double sum = 0;
  for (std::size_t step = 0; step < line.dims[1]; ++step) {
    read(line, element(line, {0, step}), line.strides_bytes[2], values_);
    if (!are_finite(values_)) return leave_undefined(answer);
    const auto best = std::max_element(values_.begin(), values_.end());
    const auto character = static_cast<std::size_t>(best - values_.begin());
    const float score = probability(*best);
    if (character != kBlank && character != before) {
      answer->text += characters_[character - 1];
      sum += static_cast<double>(score);
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

const Contract kCtcContract{Family::kCtc, kTasks, "[1, steps, 1 + characters]", refusal, make};

}  // namespace npu::vision
