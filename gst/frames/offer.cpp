#include "offer.hpp"

#include <gst/video/gstvideometa.h>

#include "allocator.hpp"
#include "caps.hpp"
#include "pool.hpp"

namespace gstnpu {
namespace {

/// Parameters by which producers with buffers of their own lay out `wanted` (GStreamer 1.26 and
/// later).
StructureRef video_meta_params(const GstVideoInfo& info, const GstVideoInfo& wanted) {
  const std::optional<GstVideoAlignment> alignment = alignment_of(info, wanted);
  if (!alignment) return nullptr;
  return StructureRef(gst_structure_new(
      "video-meta", "padding-top", G_TYPE_UINT, alignment->padding_top, "padding-bottom",
      G_TYPE_UINT, alignment->padding_bottom, "padding-left", G_TYPE_UINT, alignment->padding_left,
      "padding-right", G_TYPE_UINT, alignment->padding_right, "stride-align0", G_TYPE_UINT,
      alignment->stride_align[0], "stride-align1", G_TYPE_UINT, alignment->stride_align[1],
      "stride-align2", G_TYPE_UINT, alignment->stride_align[2], "stride-align3", G_TYPE_UINT,
      alignment->stride_align[3], nullptr));
}

}  // namespace

gboolean offer_memory(GstQuery* query, const Offer& offer) {
  GstCaps* caps = nullptr;
  gboolean need_pool = FALSE;
  gst_query_parse_allocation(query, &caps, &need_pool);
  const std::optional<GstVideoInfo> info = caps ? parse_caps(caps) : std::nullopt;
  if (!info) return FALSE;
  PoolLayout layout;
  layout.takes_alignment = !offer.fixed;
  if (offer.fixed) {
    layout.fixed = info_of_layout(*info, *offer.fixed);
  }
  const GstVideoInfo& frames = layout.fixed ? *layout.fixed : *info;
  const auto size = static_cast<guint>(GST_VIDEO_INFO_SIZE(&frames));
  ObjectRef<GstBufferPool> pool;
  if (!has_dmabuf_feature(caps) || makes_dmabufs(offer.allocator)) {
    gst_query_add_allocation_param(query, offer.allocator, nullptr);
    if (need_pool) {
      pool = make_pool(caps, layout, size, offer.min_buffers, offer.allocator);
    }
  }
  // No maximum: decoders that need more buffers than it allows would throw the pool away.
  gst_query_add_allocation_pool(query, pool.get(), size, offer.min_buffers, 0);
  const StructureRef params = layout.fixed ? video_meta_params(*info, *layout.fixed) : nullptr;
  gst_query_add_allocation_meta(query, GST_VIDEO_META_API_TYPE, params.get());
  if (offer.takes_crops) {
    gst_query_add_allocation_meta(query, GST_VIDEO_CROP_META_API_TYPE, nullptr);
  }
  return TRUE;
}

}  // namespace gstnpu
