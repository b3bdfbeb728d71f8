#include "negotiation.hpp"

#include <utility>

#include <npucore/error.hpp>

#include "frames/caps.hpp"
#include "frames/frame_description.hpp"
#include "frames/offer.hpp"
#include "frames/tensor_caps.hpp"

namespace gstnpu {

GstVideoInfo Negotiation::stream_of(const GstCaps* caps) const {
  const std::optional<GstVideoInfo> info = parse_caps(caps);
  if (!info) {
    const std::string tiled = tiled_formats(caps).first;
    throw npu::Error(npu::ErrorCode::kUnsupported,
                     "frames of " + format_of(caps) + " cannot be read: " +
                         (tiled.empty() ? "put videoconvert in front" : cure_of_tiles(tiled)));
  }
  const auto fixed = opened_->fixed_layout();
  const auto format = to_pixel_format(GST_VIDEO_INFO_FORMAT(&*info));
  const auto width = static_cast<std::uint32_t>(GST_VIDEO_INFO_WIDTH(&*info));
  const auto height = static_cast<std::uint32_t>(GST_VIDEO_INFO_HEIGHT(&*info));
  if (!fixed || (format == fixed->format && width == fixed->width && height == fixed->height)) {
    return *info;
  }
  throw npu::Error(npu::ErrorCode::kUnsupported,
                   opened_->model_file() + " takes " + fixed->describe() + ", but the stream is " +
                       npu::to_string(*format) + " " + std::to_string(width) + "x" +
                       std::to_string(height) +
                       "; put videoconvertscale in front, or compile the blob for this stream: " +
                       opened_->source().command_for(layout_of_stream(*info)));
}

std::optional<GstVideoInfo> Negotiation::foreseen(GstPad* sink, GstPad* src) const {
  const CapsRef offered = taken_caps(sink, nullptr), passed = taken_caps(src, nullptr);
  const CapsRef both(
      gst_caps_intersect_full(offered.get(), passed.get(), GST_CAPS_INTERSECT_FIRST));
  CapsRef caps = with_nv12_first(both.get());
  if (gst_caps_is_empty(caps.get())) return std::nullopt;
  const GstStructure* first = gst_caps_get_structure(caps.get(), 0);
  const bool has_size = gst_structure_has_field_typed(first, "width", G_TYPE_INT) &&
                        gst_structure_has_field_typed(first, "height", G_TYPE_INT);
  if (!has_size) return std::nullopt;
  caps.reset(gst_caps_fixate(gst_caps_truncate(caps.release())));
  return parse_caps(caps.get());
}

std::string Negotiation::color_warning(const GstVideoInfo& info) const {
  const auto fixed = opened_->fixed_layout();
  if (!fixed || !GST_VIDEO_INFO_IS_YUV(&info)) return {};
  if (color_matrix_of(info) == fixed->matrix && color_range_of(info) == fixed->range) return {};
  return "the blob was compiled for " + fixed->describe() + ", but the stream is " +
         npu::to_string(color_matrix_of(info)) + " " + npu::to_string(color_range_of(info)) +
         ": colours are a little off; compile the blob for this stream: " +
         opened_->source().command_for(layout_of_stream(info));
}

// ---- Queries

CapsRef Negotiation::own_caps() const {
  if (!opened_) return linkable_caps();
  const auto fixed = opened_->fixed_layout();
  return fixed ? caps_of_layout(*fixed) : template_caps();
}

/// Caps that both this element and the peer of `other` take, in the order of `filter`, which may be
/// null.
CapsRef Negotiation::taken_caps(GstPad* other, GstCaps* filter) const {
  const CapsRef own = own_caps();
  // With tensors as output, downstream does not limit the frames.
  const bool is_free =
      opened_ && opened_->settings().gives_tensors && GST_PAD_DIRECTION(other) == GST_PAD_SRC;
  const CapsRef peer = is_free ? CapsRef(gst_caps_ref(own.get())) : wanted_caps(other, own.get());
  CapsRef taken(gst_caps_intersect_full(peer.get(), own.get(), GST_CAPS_INTERSECT_FIRST));
  if (filter) {
    taken.reset(gst_caps_intersect_full(filter, taken.get(), GST_CAPS_INTERSECT_FIRST));
  }
  return taken;
}

/// Caps that the peer of `other` takes or gives. Tensors that downstream asks for are left out:
/// upstream knows nothing of them.
CapsRef Negotiation::wanted_caps(GstPad* other, const GstCaps* own) const {
  CapsRef peer(gst_pad_peer_query_caps(other, const_cast<GstCaps*>(own)));
  if (!opened_ || GST_PAD_IS_SINK(other)) return peer;
  return without_tensors(peer.get(), opened_->tensor_group());
}

CapsRef Negotiation::caps_with_tensors(const GstCaps* caps) const {
  return with_tensors(caps, opened_->tensor_group());
}

void Negotiation::answer_caps(GstPad* other, GstQuery* query) const {
  GstCaps* filter = nullptr;
  gst_query_parse_caps(query, &filter);
  CapsRef answer = with_nv12_first(taken_caps(other, filter).get());
  if (opened_ && GST_PAD_IS_SINK(other)) {
    answer = all_with_tensors(answer.get(), opened_->tensor_group());
    if (filter) {
      answer.reset(gst_caps_intersect_full(filter, answer.get(), GST_CAPS_INTERSECT_FIRST));
    }
  }
  gst_query_set_caps_result(query, answer.get());
}

/// Caps may leave out what has a default, like the framerate.
bool Negotiation::answer_accept_caps(GstPad* other, GstQuery* query) const {
  GstCaps* caps = nullptr;
  gst_query_parse_accept_caps(query, &caps);
  const bool is_taken = !gst_caps_is_empty(taken_caps(other, caps).get());
  gst_query_set_accept_caps_result(query, is_taken);
  return is_taken;
}

gboolean Negotiation::answer_allocation(GstQuery* query, bool takes_crops) const {
  if (!opened_) return FALSE;
  // Frames in flight, one more going downstream, one being filled.
  return offer_memory(query, {opened_->allocator(), opened_->fixed_layout(),
                              opened_->settings().requests() + 2, takes_crops});
}

std::string Negotiation::refusal_of(const GstCaps* caps, GstPad* src) const {
  try {
    stream_of(caps);
    return tensor_refusal_of(caps, src);
  } catch (const std::exception& error) {
    return error.what();
  }
}

std::string Negotiation::tensor_refusal_of(const GstCaps* caps, GstPad* src) const {
  const TensorGroup& group = opened_->tensor_group();
  if (group.id.empty()) return {};
  const CapsRef wanted(gst_pad_peer_query_caps(src, own_caps().get()));
  return tensor_refusal(caps, wanted.get(), group, opened_->model_file());
}

Negotiation::Verdict Negotiation::judge_offer(GstQuery* query, GstPad* src) const {
  GstCaps* offered = nullptr;
  GstCaps* answer = nullptr;
  gst_query_parse_caps(query, &offered);
  gst_query_parse_caps_result(query, &answer);
  if (!offered || gst_caps_is_empty(offered)) return {};
  const TiledFormats tiled = tiled_formats(offered);
  if (!gst_caps_is_empty(answer)) {
    const bool only_copies = !has_dmabuf_feature(answer);
    return {{}, only_copies ? tiled.first : std::string()};
  }
  if (tiled.are_all) {
    return {"upstream offers only tiled DMA-BUFs, but " + cure_of_tiles(tiled.first), {}};
  }
  if (std::string refusal = tensor_refusal_of(offered, src); !refusal.empty()) {
    return {std::move(refusal), {}};
  }
  const auto fixed = opened_->fixed_layout();
  if (!fixed) return {};
  return {opened_->model_file() + " takes " + fixed->describe() + ", but upstream offers only " +
              text_of(offered) +
              "; put videoconvertscale in front, or compile the blob for this stream "
              "(npu-compile --frame)",
          {}};
}

// ---- Refusals

bool Refusals::note_offer(const std::string& why) {
  const std::scoped_lock lock(mutex_);
  last_ = why;
  return !std::exchange(told_offer_, true);
}

void Refusals::note_trial(const std::string& why) {
  const std::scoped_lock lock(mutex_);
  last_ = why;
}

void Refusals::note_tiles_beside(const std::string& format) {
  const std::scoped_lock lock(mutex_);
  tiles_beside_ = format;
}

bool Refusals::note_stream() {
  const std::scoped_lock lock(mutex_);
  told_offer_ = true;  // an error says more than a warning
  return !std::exchange(told_stream_, true);
}

void Refusals::note_taken_stream() {
  const std::scoped_lock lock(mutex_);
  told_stream_ = false;
}

std::string Refusals::last() const {
  const std::scoped_lock lock(mutex_);
  return last_;
}

std::string Refusals::tiles_beside() const {
  const std::scoped_lock lock(mutex_);
  return tiles_beside_;
}

}  // namespace gstnpu
