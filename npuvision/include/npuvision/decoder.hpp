#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>

#include <npucore/frame.hpp>
#include <npuvision/answer.hpp>
#include <npuvision/model_card.hpp>
#include <npuvision/tensor_view.hpp>

namespace npu::vision {

/// What counts in one frame; from the user, else the card, else these.
struct DecodeOptions {
  float confidence_threshold = 0.5F;  ///< lowest score that counts, 0..1
  /// Of two objects of one class that overlap more (intersection over union), the better one stays.
  float iou_threshold = 0.5F;
  /// Whether the decoder suppresses what overlaps; else as the family does (docs/models.md).
  std::optional<bool> suppresses;
  bool is_class_agnostic = false;  ///< of any two objects that overlap, the better one stays
  std::size_t max_objects = 300;   ///< the best ones of a frame
  /// The best ones of a classification; of one that is multilabel, or has levels, options_of() asks
  /// for all.
  std::size_t max_classes = 1;
};

/// What the card says, where it says something.
NPU_API DecodeOptions options_of(const ModelCard& card);

/// Turns the outputs of one model into answers. Keeps its scratch memory from frame to frame, and
/// allocates none once it has seen its busiest frame. One thread.
class NPU_API Decoder {
 public:
  virtual ~Decoder();
  virtual Family family() const = 0;
  /// `outputs` are those that make_decoder() saw, in its order, with their data. `geometry` leads
  /// from the model's pixels to the frame's. Clears `answer` first. Values that are not finite are
  /// no answer. Throws Error(kInvalidArgument) for data that breaks the family's contract, a score
  /// that is no probability for one: the tensor is something else then, and `answer` of no use.
  virtual void decode(std::span<const TensorView> outputs, const npu::FrameGeometry& geometry,
                      FrameSize frame, const DecodeOptions& options, Answer* answer) = 0;
};

/// The input of the model as it was compiled.
struct InputSize {
  std::uint32_t width = 0, height = 0;  ///< pixels; 0: not known
};

/// The decoder of the one family that card and shapes allow together; the views need no data.
/// Throws Error(kInvalidArgument) where none does, or more than one: the message says what was
/// found and what would decide.
NPU_API std::unique_ptr<Decoder> make_decoder(const ModelCard& card,
                                              std::span<const TensorView> outputs, InputSize input);

}  // namespace npu::vision
