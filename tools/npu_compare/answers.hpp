#pragma once

#include <memory>
#include <string>
#include <vector>

#include <npuvision/decoder.hpp>

#include "pair.hpp"

/// Changes in the meaning of the outputs, over all frames.
struct AnswerChanges {
  std::string family;   ///< whose decoder was used; empty: none
  std::string refusal;  ///< the reason why none was used
  std::size_t frames = 0, changed_frames = 0;
  std::size_t undecoded = 0;  ///< frames with values that break the family's contract
  std::size_t objects = 0, reference_objects = 0;
  std::size_t missing = 0, added = 0;  ///< objects that one side alone has
  double largest_score = 0;  ///< difference of objects', key points', classes', texts' confidences
  double largest_shift = 0;  ///< of objects' edges, corners and key points, frame pixels
  double lowest_mask_overlap = 1;              ///< of objects' masks, intersection over union
  std::size_t pixels = 0, changed_pixels = 0;  ///< of maps of classes
  double largest_value = 0;                    ///< difference of a map of values, or an anomaly
  double lowest_cosine = 1;                    ///< of embeddings
  std::vector<std::string> changes;            ///< one sentence each; not all, if there are many
};

/// Decodes both sides' outputs as the model's card says.
class AnswerComparer {
 public:
  /// Takes the model's card or, if that says nothing, the reference's.
  AnswerComparer(const std::string& model, const std::string& reference, const Pair& pair);
  /// Compares the pair's current outputs.
  void add(std::size_t frame, Pair& pair);
  const AnswerChanges& result() const { return found_; }

 private:
  struct Decoding {
    std::vector<npu::vision::TensorView> views;
    std::unique_ptr<npu::vision::Decoder> decoder;
    npu::vision::Answer answer;
  };
  void make_decoders(const Pair& pair);
  bool decode(Decoding& decoding);
  void compare_answers();
  void compare_objects();
  void compare_object(std::size_t tested, std::size_t reference);
  void compare_classes();
  void compare_maps();
  void compare_anomaly(float tested, float reference);
  void compare_texts();
  std::string label(std::uint32_t id) const;
  void note(const std::string& change);

  npu::vision::ModelCard card_;
  npu::vision::DecodeOptions options_;
  npu::vision::InputSize input_;
  npu::FrameGeometry geometry_;
  npu::vision::FrameSize frame_size_;
  std::vector<std::size_t> chosen_;  ///< indices of the pair's outputs that are decoded
  Decoding tested_, reference_;
  std::size_t frame_ = 0;
  bool is_changed_ = false;  ///< this frame
  AnswerChanges found_;
};
