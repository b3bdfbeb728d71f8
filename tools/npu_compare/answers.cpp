#include "answers.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdarg>
#include <cstdio>
#include <optional>

#include <npucore/error.hpp>
#include <npuvision/labels.hpp>

#include "difference.hpp"
#include "object_difference.hpp"

namespace {

namespace vision = npu::vision;
using vision::Object;
using vision::TensorView;

constexpr std::size_t kMostChanges = 50;
/// Two boxes, or two masks, that overlap less than this are two objects.
constexpr double kSameObject = 0.5;
/// Two embeddings with a cosine below this are those of two things.
constexpr double kSameDirection = 0.9;

/// Both sides have the name of the tested model's output.
TensorView view_of(const npu::Port& named, const npu::Port& port) {
  TensorView view = vision::view_of(port);
  view.name = vision::view_of(named).name;
  return view;
}

/// The untaken object of the same class that overlaps most.
std::optional<std::size_t> find_same(const Object& object, const std::vector<Object>& others,
                                     const std::vector<bool>& taken) {
  std::optional<std::size_t> best;
  double most = kSameObject;
  for (std::size_t i = 0; i < others.size(); ++i) {
    if (taken[i] || others[i].label_id != object.label_id) continue;
    const double found = overlap(object, others[i]);
    if (found >= most) {
      most = found;
      best = i;
    }
  }
  return best;
}

void raise(double& most, double value) {
  most = std::max(most, std::abs(value));
}

__attribute__((format(printf, 1, 2))) std::string text(const char* format, ...) {
  std::array<char, 256> line{};
  va_list values;
  va_start(values, format);
  std::vsnprintf(line.data(), line.size(), format, values);
  va_end(values);
  return line.data();
}

std::string place_of(const Object& object) {
  return text("%.2f at %.1f,%.1f to %.1f,%.1f", static_cast<double>(object.confidence), object.left,
              object.top, object.right, object.bottom);
}

std::vector<double> doubles(const std::vector<float>& values) {
  return {values.begin(), values.end()};
}

Difference difference(const std::vector<float>& tested, const std::vector<float>& reference) {
  DifferenceMeter meter({});
  meter.add(doubles(tested), doubles(reference));
  return meter.result();
}

}  // namespace

AnswerComparer::AnswerComparer(const std::string& model, const std::string& reference,
                               const Pair& pair) {
  try {
    card_ = vision::merged(vision::read_model_card(model, pair.tested().model_info()),
                           vision::read_model_card(reference, pair.reference().model_info()));
    make_decoders(pair);
    found_.family = vision::to_string(tested_.decoder->family());
  } catch (const npu::Error& error) {
    found_.refusal = error.what();
  }
}

void AnswerComparer::make_decoders(const Pair& pair) {
  input_ = vision::picture_size(pair.tested().inputs());
  geometry_ = {.model_width = input_.width, .model_height = input_.height};
  frame_size_ = {std::max(1U, input_.width), std::max(1U, input_.height)};
  if (const auto& frames = pair.tested().frame_input()) {
    geometry_ = frames->geometry;
    input_ = {geometry_.model_width, geometry_.model_height};
    frame_size_ = {frames->preprocess.frame.width, frames->preprocess.frame.height};
  }
  std::vector<TensorView> tested, reference;
  for (const auto [mine, other] : pair.outputs()) {
    const npu::Port& port = pair.tested().outputs()[mine];
    const npu::Port& other_port = pair.reference().outputs()[other];
    if (port.shape != other_port.shape) {
      throw npu::Error(npu::ErrorCode::kInvalidArgument,
                       "the output '" + port.name + "' has another shape on each side");
    }
    tested.push_back(view_of(port, port));
    reference.push_back(view_of(port, other_port));
  }
  vision::ChosenDecoder chosen = vision::choose_decoder(card_, tested, input_);
  tested_.decoder = std::move(chosen.decoder);
  chosen_ = std::move(chosen.outputs);
  options_ = vision::options_of(card_, tested_.decoder->family());
  for (const auto index : chosen_) {
    tested_.views.push_back(tested[index]);
    reference_.views.push_back(reference[index]);
  }
  reference_.decoder = vision::make_decoder(card_, reference_.views, input_);
}

void AnswerComparer::add(std::size_t frame, Pair& pair) {
  if (!found_.refusal.empty()) return;
  frame_ = frame;
  is_changed_ = false;
  for (std::size_t i = 0; i < chosen_.size(); ++i) {
    const auto [mine, other] = pair.outputs()[chosen_[i]];
    const auto set = [](TensorView& view, std::span<const std::byte> bytes) {
      view.data = bytes.data();
      view.size_bytes = bytes.size();
    };
    set(tested_.views[i], pair.tested_output(mine));
    set(reference_.views[i], pair.reference_output(other));
  }
  const bool tested_decoded = decode(tested_), reference_decoded = decode(reference_);
  if (tested_decoded && reference_decoded) {
    compare_answers();
  }
  ++found_.frames;
  found_.changed_frames += is_changed_ ? 1 : 0;
}

bool AnswerComparer::decode(Decoding& decoding) {
  try {
    decoding.decoder->decode(decoding.views, geometry_, frame_size_, options_, &decoding.answer);
    return true;
  } catch (const npu::Error& error) {
    ++found_.undecoded;
    note(std::string(&decoding == &tested_ ? "the model" : "the reference") +
         " gives no answer: " + error.what());
    return false;
  }
}

void AnswerComparer::compare_answers() {
  compare_objects();
  compare_classes();
  compare_maps();
  compare_texts();
}

void AnswerComparer::compare_objects() {
  const auto& objects = tested_.answer.objects;
  const auto& others = reference_.answer.objects;
  found_.objects += objects.size();
  found_.reference_objects += others.size();
  std::vector<bool> taken(others.size());
  for (std::size_t i = 0; i < objects.size(); ++i) {
    const auto same = find_same(objects[i], others, taken);
    if (!same) {
      ++found_.added;
      note(label(objects[i].label_id) + ' ' + place_of(objects[i]) + " is new");
      continue;
    }
    taken[*same] = true;
    compare_object(i, *same);
  }
  for (std::size_t i = 0; i < others.size(); ++i) {
    if (taken[i]) continue;
    ++found_.missing;
    note(label(others[i].label_id) + ' ' + place_of(others[i]) + " is missing");
  }
}

void AnswerComparer::compare_object(std::size_t tested, std::size_t reference) {
  const ObjectOf one{tested_.answer, tested}, other{reference_.answer, reference};
  raise(found_.largest_score, largest_score_difference(one, other));
  raise(found_.largest_shift, largest_shift(one, other));
  const double shared = mask_overlap(one, other);
  found_.lowest_mask_overlap = std::min(found_.lowest_mask_overlap, shared);
  if (shared < kSameObject) {
    note(label(one.object().label_id) + ' ' + place_of(one.object()) +
         text(" has another mask: they overlap by %.2f", shared));
  }
}

void AnswerComparer::compare_classes() {
  const auto& classes = tested_.answer.classes;
  const auto& others = reference_.answer.classes;
  const auto best = [&](const std::vector<vision::ClassScore>& found) {
    return found.empty() ? std::string("none") : label(found.front().label_id);
  };
  if (best(classes) != best(others)) {
    note("the class is " + best(classes) + ", not " + best(others));
  }
  for (const auto& score : classes) {
    const auto same = std::find_if(others.begin(), others.end(), [&](const auto& other) {
      return other.label_id == score.label_id;
    });
    if (same == others.end()) continue;
    raise(found_.largest_score, score.confidence - same->confidence);
  }
}

void AnswerComparer::compare_maps() {
  const auto& answer = tested_.answer;
  const auto& other = reference_.answer;
  std::size_t changed = 0;
  for (std::size_t i = 0; i < answer.class_map.values.size(); ++i) {
    changed += answer.class_map.values[i] != other.class_map.values[i] ? 1 : 0;
  }
  if (changed != 0) {
    note(std::to_string(changed) + " of " + std::to_string(answer.class_map.values.size()) +
         " pixels have another class");
  }
  found_.pixels += answer.class_map.values.size();
  found_.changed_pixels += changed;
  raise(found_.largest_value, difference(answer.value_map.values, other.value_map.values).largest);
  compare_anomaly(answer.anomaly.value_or(0), other.anomaly.value_or(0));
  const double cosine = difference(answer.embedding, other.embedding).cosine;
  found_.lowest_cosine = std::min(found_.lowest_cosine, cosine);
  if (cosine < kSameDirection) {
    note(text("the embedding has another direction: their cosine is %.2f", cosine));
  }
}

void AnswerComparer::compare_anomaly(float tested, float reference) {
  constexpr float kLeast = 0.5F;  // above it the picture is not normal
  raise(found_.largest_value, tested - reference);
  if ((tested >= kLeast) == (reference >= kLeast)) return;
  note(text("the anomaly is %.2f, not %.2f", static_cast<double>(tested),
            static_cast<double>(reference)));
}

void AnswerComparer::compare_texts() {
  raise(found_.largest_score,
        tested_.answer.text_confidence.value_or(0) - reference_.answer.text_confidence.value_or(0));
  if (tested_.answer.text == reference_.answer.text) return;
  note("the text is \"" + tested_.answer.text + "\", not \"" + reference_.answer.text + '"');
}

std::string AnswerComparer::label(std::uint32_t id) const {
  return vision::label_of(card_.labels, id);
}

void AnswerComparer::note(const std::string& change) {
  is_changed_ = true;
  if (found_.changes.size() < kMostChanges) {
    found_.changes.push_back("frame " + std::to_string(frame_) + ": " + change);
  }
}
