#include "tensor_decoder.hpp"

#include <gst/video/gstvideometa.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include <npucore/error.hpp>

namespace gstnpu {
namespace {

constexpr std::size_t kMostDecoders = 16;

bool is_of_region(const InferenceOutputs& inference) {
  const GstNpuInferenceMeta* known = inference.meta ? inference.meta : inference.lost;
  return known && known->is_region;
}

bool is_decoded(const InferenceOutputs& inference) {
  const GstNpuInferenceMeta* known = inference.meta ? inference.meta : inference.lost;
  return known && known->is_decoded;
}

std::vector<InferenceOutputs> inferences_of(GstBuffer* buffer) {
  std::vector<InferenceOutputs> inferences;
  for (const InferredTensor& one : tensors_of(buffer)) {
    if (inferences.empty() || inferences.back().meta != one.meta ||
        inferences.back().lost != one.lost) {
      inferences.push_back({one.meta, {}, one.lost});
    }
    inferences.back().tensors.push_back(one.tensor);
  }
  return inferences;
}

void check_geometry(const InferenceOutputs& inference) {
  const bool is_lost =
      !inference.meta &&
      std::any_of(inference.tensors.begin(), inference.tensors.end(), [](const auto& tensor) {
        return tensor.memory &&
               GST_MINI_OBJECT_FLAG_IS_SET(tensor.memory, GST_NPU_MEMORY_FLAG_OF_FRAME);
      });
  if (!is_lost && !inference.lost) return;
  if (is_of_region(inference)) {
    throw npu::Error(
        npu::ErrorCode::kInvalidArgument,
        "the tensors of an object (inference-region=roi-list) came without the "
        "metadata that tells of which object they are: an element in between dropped it. "
        "Put nputensordec directly behind npuinfer");
  }
  throw npu::Error(
      npu::ErrorCode::kInvalidArgument,
      "the tensors came without the metadata that tells where in the frame their values are: an "
      "element in between changed the frames and dropped it. Put nputensordec directly behind "
      "npuinfer");
}

bool is_scale(const FrameMove& move) {
  return !move.is_transposed && move.scale_x > 0 && move.scale_y > 0 &&
         std::abs(move.move_x) < 1e-3 && std::abs(move.move_y) < 1e-3;
}

/// Whether the frame is the inferred one, or that one scaled.
bool is_whole(const FrameMove& move, npu::vision::FrameSize inferred,
              npu::vision::FrameSize frame) {
  const auto is_near = [](double a, double b) { return std::abs(a - b) < 0.5; };
  return is_scale(move) && is_near(inferred.width * move.scale_x, frame.width) &&
         is_near(inferred.height * move.scale_y, frame.height);
}

// ---- What happened to the frame since it was inferred

/// From GStreamer 1.28 on filters tell metas how they move pixels; before, only how they scale, and
/// not which borders they add.
bool filters_tell() {
  guint major = 0, minor = 0, micro = 0, nano = 0;
  gst_version(&major, &minor, &micro, &nano);
  return major > 1 || minor >= 28;
}

/// videocrop does no more than to add or change the crop's meta where downstream takes it.
void follow_crop(GstBuffer* buffer, GstNpuInferenceMeta* meta) {
  const GstVideoCropMeta* crop = gst_buffer_get_video_crop_meta(buffer);
  if (!crop) return;
  gst_npu_inference_meta_move(meta, FALSE, 1, 1, static_cast<double>(meta->crop_x) - crop->x,
                              static_cast<double>(meta->crop_y) - crop->y);
  meta->crop_x = crop->x;
  meta->crop_y = crop->y;
}

/// Whether one scale explains both sides of the frame, to the pixel: then it has no borders.
bool is_even(npu::vision::FrameSize inferred, npu::vision::FrameSize frame) {
  const double scale = static_cast<double>(frame.width) / inferred.width;
  const double other = static_cast<double>(frame.height) / inferred.height;
  return std::abs(inferred.height * scale - frame.height) < 1 ||
         std::abs(inferred.width * other - frame.width) < 1;
}

/// Throws where nothing tells for certain how pixels have moved. Other moves than scales come from
/// a matrix or a described crop, which are exact.
void require_told(const FrameMove& move, npu::vision::FrameSize inferred,
                  npu::vision::FrameSize frame) {
  const bool is_told = filters_tell() || !is_scale(move) ||
                       (is_whole(move, inferred, frame) && is_even(inferred, frame));
  if (is_told) return;
  const auto text_of = [](npu::vision::FrameSize size) {
    return std::to_string(size.width) + "x" + std::to_string(size.height);
  };
  throw npu::Error(npu::ErrorCode::kInvalidArgument,
                   "the frame was inferred as " + text_of(inferred) + " and comes as " +
                       text_of(frame) +
                       ", and before GStreamer 1.28 nothing tells how its pixels have moved. Put "
                       "nputensordec directly behind npuinfer");
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

/// The area that an inference's maps cover, in a frame of this size.
FrameArea area_of_maps(const GstNpuInferenceMeta& origin, npu::vision::FrameSize frame) {
  const MapPlace place = place_of_maps(origin, frame);
  return {place.left * frame.width, place.top * frame.height, place.right * frame.width,
          place.bottom * frame.height};
}

FrameArea area_of_object(const GstNpuInferenceMeta& origin) {
  const double left = origin.region_x, top = origin.region_y;
  return {left, top, left + origin.region_w, top + origin.region_h};
}

MapPlace place_in(npu::vision::FrameSize frame, const FrameArea& area) {
  if (area.is_empty()) return {};
  return {.left = area.left / frame.width,
          .top = area.top / frame.height,
          .right = area.right / frame.width,
          .bottom = area.bottom / frame.height};
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
    return is_of_region(one) && is_named(one);
  });
  std::erase_if(inferences, [&](const InferenceOutputs& one) {
    if (is_of_region(one)) return is_decoded(one);
    return !is_named(one) && (names_object || is_decoded(one));
  });
  return inferences;
}

Decoded TensorDecoder::decode(GstBuffer* buffer, npu::vision::FrameSize frame) {
  const std::vector<InferenceOutputs> inferences = undecoded(buffer);
  Decoded decoded;
  for (const InferenceOutputs& inference : inferences) {
    if (is_of_region(inference)) {
      decode_one(buffer, inference, frame, &decoded);
    }
  }
  if (const InferenceOutputs* chosen = choose_frame(inferences)) {
    decode_one(buffer, *chosen, frame, &decoded);
  }
  return decoded;
}

const InferenceOutputs* TensorDecoder::choose_frame(
    const std::vector<InferenceOutputs>& inferences) {
  std::vector<const InferenceOutputs*> frames;
  for (const InferenceOutputs& one : inferences) {
    if (!is_of_region(one)) {
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
const npu::vision::Answer& TensorDecoder::decode_in(GstBuffer* buffer, ModelDecoder& decoder,
                                                    const InferenceOutputs& inference,
                                                    npu::vision::FrameSize frame) {
  GstNpuInferenceMeta* meta = inference.meta;
  if (!meta) return decoder.decode(inference, nullptr, frame);  // pixels of the frame
  follow_crop(buffer, meta);
  const GstNpuInferenceMeta* origin = known_origin(buffer, *meta);
  if (!origin) return decode_unmoved(decoder, inference, frame);
  const npu::vision::FrameSize inferred{origin->frame_width, origin->frame_height};
  const FrameMove move = move_between(*origin, *meta);
  require_told(move, inferred, frame);
  if (is_whole(move, inferred, frame)) return decode_unmoved(decoder, inference, frame);
  const npu::vision::Answer& answer = decoder.decode(inference, origin, inferred);
  if (is_of_region(inference)) return move_object(answer, *origin, inferred, move, frame);
  if (has_map(answer) && !place_of_maps(*origin, inferred).is_whole()) {
    throw npu::Error(npu::ErrorCode::kInvalidArgument,
                     "the model saw only the middle of the frame, and its map does not follow what "
                     "changed the frame since: put nputensordec directly behind the inference");
  }
  moved_ = moved(answer, move, inferred, frame);
  return moved_;
}

const npu::vision::Answer& TensorDecoder::decode_unmoved(ModelDecoder& decoder,
                                                         const InferenceOutputs& inference,
                                                         npu::vision::FrameSize frame) {
  const npu::vision::Answer& answer = decoder.decode(inference, inference.meta, frame);
  if (!is_of_region(inference) || !has_map(answer)) return answer;
  return move_object(answer, *inference.meta, frame, {}, frame);
}

/// An answer for an object, as it was inferred in a frame of size `inferred`. Of its maps the part
/// that shows the object stays, not the borders around it.
const npu::vision::Answer& TensorDecoder::move_object(const npu::vision::Answer& answer,
                                                      const GstNpuInferenceMeta& origin,
                                                      npu::vision::FrameSize inferred,
                                                      const FrameMove& move,
                                                      npu::vision::FrameSize frame) {
  const FrameArea seen = area_of_maps(origin, inferred);
  const FrameArea all{0, 0, static_cast<double>(frame.width), static_cast<double>(frame.height)};
  const FrameArea kept = common(all, moved(common(seen, area_of_object(origin)), move));
  place_of_object_ = place_in(frame, kept);
  moved_ = moved(answer, move, MapAreas{seen, kept}, frame);
  return moved_;
}

void TensorDecoder::decode_one(GstBuffer* buffer, const InferenceOutputs& inference,
                               npu::vision::FrameSize frame, Decoded* decoded) {
  check_geometry(inference);
  ModelDecoder& decoder = decoder_of(inference);
  const npu::vision::Answer& answer = decode_in(buffer, decoder, inference, frame);
  decoded->undefined += decoder.was_undefined() ? 1 : 0;
  GstNpuInferenceMeta* meta = inference.meta;
  if (!meta) {  // others attach none, which could say that they are decoded
    meta = gst_buffer_add_npu_inference_meta(buffer, nullptr);
  }
  if (is_of_region(inference)) {
    attach_to_object(buffer, meta, answer, decoder.card(), frame, place_of_object_);
    ++decoded->regions;
  } else {
    attach_to_frame(buffer, meta, answer, decoder.card(), frame);
    decoded->frame = true;
    decoded->objects += answer.objects.size();
  }
  meta->is_decoded = TRUE;
  if (!inference.meta) return;
  if (auto* origin = gst_buffer_get_npu_inference_origin(buffer, meta->inference_id)) {
    origin->is_decoded = TRUE;
  }
}

}  // namespace gstnpu
