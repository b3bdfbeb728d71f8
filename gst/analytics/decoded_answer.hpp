// Decoders' answers as parts of a frame's.
#pragma once

#include <gst/gst.h>

#include <string>

#include <npuvision/answer.hpp>
#include <npuvision/model_card.hpp>

#include "answers/frame_answer.hpp"

namespace gstnpu {

/// The model that answered.
struct Answering {
  const npu::vision::ModelCard& card;
  LabelsRef labels;                 ///< the card's
  const GstNpuInferenceMeta* meta;  ///< null: not known
};

/// An answer by itself, in the frame of size `frame` that was inferred. Of an object's maps the
/// part that shows the object stays, not the borders around it.
FrameAnswer answer_of(const npu::vision::Answer& answer, const Answering& model,
                      npu::vision::FrameSize frame);

/// Adds it to what was found in the frame already.
void add_to_frame(FrameAnswer said, FrameAnswer* answer);
/// Adds what it says of the whole to an object, which may be gone. Objects that were found in it
/// are new ones.
void add_to_object(FrameAnswer said, gint object_id, FrameAnswer* answer);

}  // namespace gstnpu
