#pragma once

#include <gst/gst.h>

GST_DEBUG_CATEGORY_EXTERN(gstnpu_debug);
#define GST_CAT_DEFAULT gstnpu_debug

namespace gstnpu {

/// Makes the category "npu" and sends npucore's messages there; only the first call does.
void set_up_log();

}  // namespace gstnpu
