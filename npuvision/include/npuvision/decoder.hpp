#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <npucore/frame.hpp>
#include <npuvision/answer.hpp>
#include <npuvision/model_card.hpp>
#include <npuvision/tensor_view.hpp>

namespace npu::vision {

/// Options for decoding a frame: the user's, else the card's, else these defaults.
struct DecodeOptions {
  float confidence_threshold = 0.5F;  ///< lowest score that counts, 0..1
  /// When two objects of a class overlap more than this (intersection over union), the better
  /// stays.
  float iou_threshold = 0.5F;
  /// Whether the decoder suppresses overlaps; nullopt: as the family does (docs/models.md).
  std::optional<bool> suppresses;
  bool is_class_agnostic = false;  ///< objects of different classes suppress each other too
  std::size_t max_objects = 300;   ///< in a frame; the best ones stay
  /// Classes of a classification, the best ones. options_of() sets no limit where it is multilabel
  /// or has levels.
  std::size_t max_classes = 1;
};

/// The card's options, and where the card has none, the defaults of the decoder's family.
NPU_API DecodeOptions options_of(const ModelCard& card, Family family = Family::kAuto);

/// Turns the outputs of one model into answers. Keeps its scratch memory from frame to frame, and
/// allocates nothing more once it has seen its busiest frame. Single-threaded.
class NPU_API Decoder {
 public:
  virtual ~Decoder();
  virtual Family family() const = 0;
  /// The names of what the model finds, where its family tells: {"face"}. Else empty.
  virtual std::vector<std::string> usual_labels() const { return {}; }
  /// `outputs` are those that make_decoder() saw, in the same order, with data. `geometry` converts
  /// the model's pixels to the frame's. Clears `answer` first. Values that are not finite give no
  /// results. Throws Error(kInvalidArgument) for data that breaks the family's contract, such as a
  /// score that is no probability: then the tensor is something else, and `answer` must not be
  /// used.
  virtual void decode(std::span<const TensorView> outputs, const npu::FrameGeometry& geometry,
                      FrameSize frame, const DecodeOptions& options, Answer* answer) = 0;
};

/// Size of the model's compiled input.
struct InputSize {
  std::uint32_t width = 0, height = 0;  ///< pixels; 0: not known
};
/// The size of the only picture among a model's inputs; not known where there are none or several.
NPU_API InputSize picture_size(std::span<const npu::Port> inputs);

/// Makes the decoder of the only family that both card and shapes allow; the views need no data.
/// Throws Error(kInvalidArgument) where no family or several fit; the message says what was found
/// and what would decide.
NPU_API std::unique_ptr<Decoder> make_decoder(const ModelCard& card,
                                              std::span<const TensorView> outputs, InputSize input);

/// A sentence where the graph scales its picture first (ModelCard::inner_width) and boxes in pixels
/// are not shown to be those of the input; else empty.
NPU_API std::string doubt_about_pixels(const ModelCard& card, std::span<const TensorView> outputs,
                                       InputSize input);

/// A decoder for some of a model's outputs.
struct ChosenDecoder {
  std::unique_ptr<Decoder> decoder;
  std::vector<std::size_t> outputs;  ///< indices of those that decode() takes, in its order
};
/// As make_decoder(), for a whole model: takes the output that the card names, else all of them
/// together, else the only one that a family takes.
NPU_API ChosenDecoder choose_decoder(const ModelCard& card, std::span<const TensorView> outputs,
                                     InputSize input);

}  // namespace npu::vision
