#include "tensor_decoder.hpp"

#include <gst/video/gstvideometa.h>

#include <algorithm>
#include <utility>

#include <npucore/error.hpp>

#include "bridges/bridges.hpp"

#include "decoded_answer.hpp"

namespace gstnpu {
namespace {

constexpr std::size_t kMostDecoders = 16;

std::string to_text(npu::vision::FrameSize size) {
  return std::to_string(size.width) + "x" + std::to_string(size.height);
}

/// `inferred`: the frame's size then; 0: not known.
[[noreturn]] void refuse_frame(const std::string& what, npu::vision::FrameSize inferred,
                               npu::vision::FrameSize frame) {
  const std::string from = inferred.width > 0 ? " (" + to_text(inferred) + ", now " : " (now ";
  throw npu::Error(npu::ErrorCode::kInvalidArgument,
                   what + ": an element between the inference and nputensordec changed the frame" +
                       from + to_text(frame) +
                       ") and did not tell how. Put nputensordec directly behind npuinfer");
}

npu::vision::FrameSize size_of(const GstNpuInferenceMeta& origin) {
  return {origin.frame_width, origin.frame_height};
}

/// Metas that depend on the frame's size or orientation are dropped by elements that change it.
void check_geometry(const InferenceOutputs& inference, npu::vision::FrameSize frame) {
  const bool is_lost =
      !inference.meta &&
      std::any_of(inference.tensors.begin(), inference.tensors.end(), [](const auto& tensor) {
        return tensor.memory &&
               GST_MINI_OBJECT_FLAG_IS_SET(tensor.memory, GST_NPU_MEMORY_FLAG_OF_FRAME);
      });
  if (!is_lost && !inference.lost) return;
  refuse_frame(
      "the tensors came without the metadata that tells where in the frame their values are",
      inference.lost ? size_of(*inference.lost) : npu::vision::FrameSize{}, frame);
}

/// The inference as it was made, where the size of its frame is known too; else null.
const GstNpuInferenceMeta* known_origin(GstBuffer* buffer, const GstNpuInferenceMeta* meta) {
  const auto* origin =
      meta ? gst_buffer_get_npu_inference_origin(buffer, meta->inference_id) : nullptr;
  return origin && origin->frame_width > 0 && origin->frame_height > 0 ? origin : nullptr;
}

/// videocrop does no more than to add or change a GstVideoCropMeta where downstream takes it.
void follow_crop(GstBuffer* buffer, GstNpuInferenceMeta* meta) {
  const GstVideoCropMeta* crop = gst_buffer_get_video_crop_meta(buffer);
  if (!crop || !known_origin(buffer, meta)) return;
  const FrameMove move = move_of_crop(buffer, meta->crop_x, meta->crop_y);
  gst_npu_inference_meta_move(meta, FALSE, 1, 1, move.move_x, move.move_y);
  meta->crop_x = crop->x;
  meta->crop_y = crop->y;
}

std::string list(const std::vector<InferenceOutputs>& inferences) {
  std::string text;
  for (const InferenceOutputs& inference : inferences) {
    for (const GstNpuTensor& tensor : inference.tensors) {
      text += (text.empty() ? "" : ", ") + view_of(tensor).describe();
    }
  }
  return text;
}

}  // namespace

void TensorDecoder::configure(DecoderSettings settings) {
  settings_ = std::move(settings);
  decoders_.clear();
}

bool TensorDecoder::is_named(const InferenceOutputs& inference) const {
  const std::string& name = settings_.tensor_name;
  return !name.empty() &&
         std::any_of(inference.tensors.begin(), inference.tensors.end(),
                     [&name](const GstNpuTensor& tensor) { return view_of(tensor).name == name; });
}

/// An inference that an element upstream has decoded is left alone, unless the user names an
/// output of it; where the name is one of an object's, no whole frame is decoded.
std::vector<InferenceOutputs> TensorDecoder::undecoded(GstBuffer* buffer) const {
  std::vector<InferenceOutputs> inferences = inferences_of(buffer);
  const bool names_object = std::any_of(inferences.begin(), inferences.end(), [&](const auto& one) {
    return one.is_of_region() && is_named(one);
  });
  std::erase_if(inferences, [&](const InferenceOutputs& one) {
    if (one.is_of_region()) return one.is_decoded();
    return !is_named(one) && (names_object || one.is_decoded());
  });
  return inferences;
}

Decoded TensorDecoder::decode(GstBuffer* buffer, npu::vision::FrameSize frame) {
  const std::vector<InferenceOutputs> inferences = undecoded(buffer);
  std::vector<Said> said;
  for (const InferenceOutputs& inference : inferences) {
    if (inference.is_of_region()) {
      said.push_back(decode_one(buffer, inference, frame));
    }
  }
  if (const InferenceOutputs* chosen = choose_frame(inferences)) {
    said.push_back(decode_one(buffer, *chosen, frame));
  }
  return said.empty() ? Decoded() : put(std::move(said), buffer, frame);
}

const InferenceOutputs* TensorDecoder::choose_frame(
    const std::vector<InferenceOutputs>& inferences) {
  std::vector<const InferenceOutputs*> frames;
  for (const InferenceOutputs& one : inferences) {
    if (!one.is_of_region()) {
      frames.push_back(&one);
    }
  }
  if (frames.empty()) return nullptr;
  if (!settings_.tensor_name.empty()) {
    const auto named =
        std::find_if(frames.begin(), frames.end(), [&](const auto* one) { return is_named(*one); });
    if (named != frames.end()) return *named;
    throw npu::Error(npu::ErrorCode::kInvalidArgument,
                     "no tensor is named \"" + settings_.tensor_name +
                         "\": set tensor-name to one of " + list(inferences));
  }
  if (frames.size() == 1) return frames.front();
  const auto known = std::find_if(frames.begin(), frames.end(), [&](const auto* one) {
    try {
      decoder_of(one->lost ? InferenceOutputs{one->lost, one->tensors} : *one);
      return true;
    } catch (const npu::Error&) {
      return false;
    }
  });
  return known != frames.end() ? *known : frames.front();
}

ModelDecoder& TensorDecoder::decoder_of(const InferenceOutputs& inference) {
  auto found = std::find_if(decoders_.begin(), decoders_.end(),
                            [&](const auto& one) { return one->fits(inference); });
  if (found == decoders_.end()) {
    auto made = std::make_unique<ModelDecoder>(settings_, inference);
    if (decoders_.size() >= kMostDecoders) {
      decoders_.erase(decoders_.begin());
    }
    found = decoders_.insert(decoders_.end(), std::move(made));
  }
  (*found)->check();
  return **found;
}

/// In the frame that was inferred, where that is not this one: what is cut off decides there, too,
/// which boxes are of one object.
TensorDecoder::Said TensorDecoder::decode_one(GstBuffer* buffer, const InferenceOutputs& inference,
                                              npu::vision::FrameSize frame) {
  check_geometry(inference, frame);
  ModelDecoder& decoder = decoder_of(inference);
  GstNpuInferenceMeta* meta = inference.meta;
  if (meta) {
    follow_crop(buffer, meta);
  }
  const GstNpuInferenceMeta* origin = known_origin(buffer, meta);
  const GstNpuInferenceMeta* geometry = origin ? origin : meta;
  const npu::vision::FrameSize inferred = origin ? size_of(*origin) : frame;
  const npu::vision::Answer& answer = decoder.decode(inference, geometry, inferred);
  Said said{meta, answer_of(answer, {decoder.card(), decoder.labels(), geometry}, inferred),
            decoder.was_undefined()};
  if (!origin) return said;
  const FrameMove move = move_between(*origin, *meta);
  if (!move.is_identity()) {
    said.answer = moved(said.answer, move, frame);
  } else if (inferred.width != frame.width || inferred.height != frame.height) {
    refuse_frame("nothing tells where in the frame the tensors' values are", inferred, frame);
  }
  return said;
}

/// Others attach no meta, which could say that their tensors are decoded.
void mark_decoded(GstBuffer* buffer, GstNpuInferenceMeta* meta) {
  if (!meta) {
    gst_buffer_add_npu_inference_meta(buffer, nullptr)->is_decoded = TRUE;
    return;
  }
  meta->is_decoded = TRUE;
  if (auto* origin = gst_buffer_get_npu_inference_origin(buffer, meta->inference_id)) {
    origin->is_decoded = TRUE;
  }
}

Decoded TensorDecoder::put(std::vector<Said> said, GstBuffer* buffer,
                           npu::vision::FrameSize frame) {
  Decoded decoded;
  FrameAnswer answer = take_answer(buffer, frame);
  for (Said& one : said) {
    decoded.undefined += one.is_undefined ? 1 : 0;
    if (one.meta && one.meta->is_region) {
      add_to_object(std::move(one.answer), one.meta->object_id, &answer);
      ++decoded.regions;
    } else {
      decoded.frame = true;
      decoded.objects += one.answer.objects.size();
      add_to_frame(std::move(one.answer), &answer);
    }
    mark_decoded(buffer, one.meta);
  }
  write_answer(buffer, std::move(answer));
  return decoded;
}

}  // namespace gstnpu
