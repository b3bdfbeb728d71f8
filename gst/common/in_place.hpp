// Allocation in elements that pass frames on unchanged: virtual methods of GstBaseTransform.
#pragma once

#include <gst/base/gstbasetransform.h>

namespace gstnpu {

/// Lets upstream talk to downstream's allocators directly.
inline gboolean propose_as_downstream(GstBaseTransform* base, GstQuery*, GstQuery* query) {
  return gst_pad_peer_query(GST_BASE_TRANSFORM_SRC_PAD(base), query);
}

/// Keeps no pool, because the element makes no frames.
inline gboolean decide_on_no_pool(GstBaseTransform*, GstQuery* query) {
  while (gst_query_get_n_allocation_pools(query) > 0) {
    gst_query_remove_nth_allocation_pool(query, 0);
  }
  return TRUE;
}

/// Makes the buffer writable for metadata. Its memory stays shared.
inline GstFlowReturn prepare_for_metadata(GstBaseTransform*, GstBuffer* input, GstBuffer** output) {
  *output = gst_buffer_is_writable(input) ? input : gst_buffer_copy(input);
  return *output != nullptr ? GST_FLOW_OK : GST_FLOW_ERROR;
}

}  // namespace gstnpu
