#include "missing_answers.hpp"

#include <string>

#include "meta/npumeta.h"

#include "bus.hpp"
#include "upstream.hpp"

namespace gstnpu {
namespace {

using npu::vision::FrameSize;

std::string to_text(FrameSize size) {
  return std::to_string(size.width) + "x" + std::to_string(size.height);
}

/// Whether an inference of the whole frame was not decoded. Tensors stay, whatever becomes of the
/// frame, and so does what is known of their inference.
bool has_undecoded(GstBuffer* buffer) {
  if (gst_npu_buffer_has_answer(buffer)) return false;
  const guint count = gst_npu_buffer_get_num_tensors(buffer);
  for (guint i = 0; i < count; ++i) {
    const auto* origin =
        gst_buffer_get_npu_inference_origin(buffer, gst_npu_buffer_get_tensor_inference(buffer, i));
    if (origin && !origin->is_region && !origin->is_decoded) return true;
  }
  return false;
}

/// An element in between may have decoded the tensors: GStreamer's own decoders have such names.
bool has_nothing_but_an_inference_in_front(GstElement* element) {
  for (const auto& before : elements_in_front_of(element)) {
    if (factory_of(before.get()).find("tensordec") != std::string_view::npos) return false;
    if (infers(before.get())) return true;
  }
  return false;
}

}  // namespace

void MissingAnswers::look_for_another_size(GstElement* element, GstBuffer* buffer,
                                           FrameSize frame) {
  FrameSize found;
  if (!gst_npu_buffer_get_answer_size(buffer, &found.width, &found.height)) return;
  if (found.width == frame.width && found.height == frame.height) return;
  is_settled_ = true;
  post_warning(element, "what was found in frames of " + to_text(found) +
                            " is left out, because these are " + to_text(frame) +
                            " by their caps: an element in front changes frames, or their caps "
                            "alone, as capssetter does, and does not tell how. Put " +
                            std::string(factory_of(element)) + " in front of that element");
}

void MissingAnswers::look_for_lost(GstElement* element, GstBuffer* buffer, Size frame) {
  if (is_settled_) return;
  if (frame) {
    look_for_another_size(element, buffer, *frame);
  }
  if (!gst_npu_buffer_has_lost_answer(buffer)) return;
  is_settled_ = true;
  post_warning(element,
               "what nputensordec found is gone from the frames: an element behind it changes "
               "them and does not tell how, as videocrop, videobox, videoflip and videoscale to "
               "another shape do before GStreamer 1.28. Put " +
                   std::string(factory_of(element)) + " in front of that element");
}

void MissingAnswers::look_at(GstElement* element, GstBuffer* buffer, Size frame) {
  look_for_lost(element, buffer, frame);
  if (is_settled_ || !has_undecoded(buffer)) return;
  is_settled_ = true;
  if (has_nothing_but_an_inference_in_front(element)) {
    post_warning(element,
                 "the frames come with tensors that nobody has decoded: put nputensordec in front "
                 "of " +
                     std::string(factory_of(element)));
  }
}

}  // namespace gstnpu
