#pragma once

#include <gst/gst.h>

#include <functional>
#include <memory>
#include <vector>

#include "answer_meta.hpp"
#include "frame_move.hpp"
#include "model_decoder.hpp"

namespace gstnpu {

/// Counts of what was decoded from a buffer.
struct Decoded {
  bool frame = false;         ///< an inference of the whole frame
  std::size_t objects = 0;    ///< that it found
  std::size_t regions = 0;    ///< inferences of objects
  std::size_t undefined = 0;  ///< of both, with values that are not finite instead of an answer
};

/// Makes answers of the tensors on buffers, and puts them there. One thread.
class TensorDecoder {
 public:
  /// Holds from the next buffer on. Reads anew what lies beside the models.
  void configure(DecoderSettings settings);

  /// Decodes all inferences of objects, and one of the whole frame: the one with the tensor that
  /// the user chose, else the first known one that was not decoded yet. The buffer must be
  /// writable: it is marked there what was decoded. Throws npu::Error; results attached before
  /// stay.
  Decoded decode(GstBuffer* buffer, npu::vision::FrameSize frame);

 private:
  std::vector<InferenceOutputs> undecoded(GstBuffer* buffer) const;
  const InferenceOutputs* choose_frame(const std::vector<InferenceOutputs>& inferences);
  ModelDecoder& decoder_of(const InferenceOutputs& inference);
  bool is_named(const InferenceOutputs& inference) const;
  const npu::vision::Answer& decode_in(GstBuffer* buffer, ModelDecoder& decoder,
                                       const InferenceOutputs& inference,
                                       npu::vision::FrameSize frame);
  const npu::vision::Answer& decode_unmoved(ModelDecoder& decoder,
                                            const InferenceOutputs& inference,
                                            npu::vision::FrameSize frame);
  const npu::vision::Answer& move_object(const npu::vision::Answer& answer,
                                         const GstNpuInferenceMeta& origin,
                                         npu::vision::FrameSize inferred, const FrameMove& move,
                                         npu::vision::FrameSize frame);
  void decode_one(GstBuffer* buffer, const InferenceOutputs& inference,
                  npu::vision::FrameSize frame, Decoded* decoded);

  DecoderSettings settings_;
  std::vector<std::unique_ptr<ModelDecoder>> decoders_;  // of the models seen last
  npu::vision::Answer moved_;                            // the last that had to be
  MapPlace place_of_object_;                             // of the last object's maps
};

}  // namespace gstnpu
