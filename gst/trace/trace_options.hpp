#pragma once

#include <glib.h>

#include <string>

namespace gstnpu {

/// Options in the brackets of GST_TRACERS="npu(interval=2)".
struct TraceOptions {
  gint64 interval_us = 0;  ///< time between reports while frames flow; 0: only at the end
  std::string complaint;   ///< names what was not understood; empty: nothing
};

/// `params` may be null. Options that are not understood keep their defaults.
TraceOptions parse_trace_options(const char* params);

}  // namespace gstnpu
