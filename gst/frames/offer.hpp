// Answers an ALLOCATION query.
#pragma once

#include <gst/gst.h>

#include <optional>

#include <npucore/frame.hpp>

namespace gstnpu {

struct Offer {
  GstAllocator* allocator;                ///< borrowed, from make_allocator()
  std::optional<npu::FrameLayout> fixed;  ///< a precompiled blob's layout
  guint min_buffers;
  bool takes_crops;  ///< frames may carry GstVideoCropMeta
};

/// Proposes the NPU's memory, with a pool if upstream needs one, and the metadata that are
/// understood. Allocates nothing. False for caps that the elements do not take.
gboolean offer_memory(GstQuery* query, const Offer& offer);

}  // namespace gstnpu
