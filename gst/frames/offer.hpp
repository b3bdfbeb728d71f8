// The answer to an ALLOCATION query.
#pragma once

#include <gst/gst.h>

#include <optional>

#include <npucore/frame.hpp>

namespace gstnpu {

struct Offer {
  GstAllocator* allocator;                ///< borrowed, of make_allocator()
  std::optional<npu::FrameLayout> fixed;  ///< of a precompiled blob
  guint min_buffers;
  bool takes_crops;  ///< GstVideoCropMeta
};

/// Proposes the NPU's memory, in a pool where upstream wants one, and the metadata that are
/// understood. Allocates nothing. False for caps that no frame of ours has.
gboolean offer_memory(GstQuery* query, const Offer& offer);

}  // namespace gstnpu
