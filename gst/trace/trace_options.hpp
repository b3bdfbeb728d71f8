#pragma once

#include <glib.h>

#include <string>

namespace gstnpu {

/// What stands in the brackets of GST_TRACERS="npu(interval=2)".
struct TraceOptions {
  gint64 interval_us = 0;  ///< from one report to the next while frames flow; 0: only at the end
  std::string complaint;   ///< about what was not understood; empty: nothing
};

/// `params` may be null. What is not understood is left at its default.
TraceOptions parse_trace_options(const char* params);

}  // namespace gstnpu
