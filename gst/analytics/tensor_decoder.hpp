#pragma once

#include <gst/gst.h>

#include <memory>
#include <vector>

#include "answers/frame_answer.hpp"

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
  /// Reads anew what lies beside the models.
  void configure(DecoderSettings settings);

  /// Decodes all inferences of objects, and one of the whole frame: the one with the tensor that
  /// the user chose, else the first known one that was not decoded yet. The buffer must be
  /// writable: it is marked there what was decoded. Throws npu::Error, and then leaves it as it
  /// is.
  Decoded decode(GstBuffer* buffer, npu::vision::FrameSize frame);

 private:
  std::vector<InferenceOutputs> undecoded(GstBuffer* buffer) const;
  const InferenceOutputs* choose_frame(const std::vector<InferenceOutputs>& inferences);
  ModelDecoder& decoder_of(const InferenceOutputs& inference);
  bool is_named(const InferenceOutputs& inference) const;
  /// One inference's answer, for this frame.
  struct Said {
    GstNpuInferenceMeta* meta;  // null: others' tensors
    FrameAnswer answer;
    bool is_undefined;
  };
  Said decode_one(GstBuffer* buffer, const InferenceOutputs& inference,
                  npu::vision::FrameSize frame);
  static Decoded put(std::vector<Said> said, GstBuffer* buffer, npu::vision::FrameSize frame);

  DecoderSettings settings_;
  std::vector<std::unique_ptr<ModelDecoder>> decoders_;  // of the models seen last
};

}  // namespace gstnpu
