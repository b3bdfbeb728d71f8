#include "trace_options.hpp"

#include <gst/gst.h>

#include <algorithm>
#include <optional>

#include "common/refs.hpp"

namespace gstnpu {
namespace {

constexpr const char* kUsage = "GST_TRACERS=\"npu(interval=2)\" is the usage";
constexpr double kMostSeconds = 1e6;

std::optional<double> seconds_of(const GValue& value) {
  double seconds = 0;
  if (G_VALUE_HOLDS_INT(&value)) {
    seconds = g_value_get_int(&value);
  } else if (G_VALUE_HOLDS_DOUBLE(&value)) {
    seconds = g_value_get_double(&value);
  }
  const bool fits = seconds > 0 && seconds <= kMostSeconds;  // false for NaN
  return fits ? std::optional(seconds) : std::nullopt;
}

gboolean read_field(GQuark name, const GValue* value, gpointer user) {
  auto& options = *static_cast<TraceOptions*>(user);
  if (name != g_quark_from_string("interval")) {
    options.complaint =
        "there is no parameter \"" + std::string(g_quark_to_string(name)) + "\"; " + kUsage;
    return TRUE;
  }
  if (const std::optional<double> seconds = seconds_of(*value)) {
    // At least a microsecond: 0 would mean no interval.
    options.interval_us = std::max<gint64>(1, static_cast<gint64>(*seconds * G_USEC_PER_SEC));
  } else {
    options.complaint = "\"interval\" is no number of seconds above 0, up to 1e6; ";
    options.complaint += kUsage;
  }
  return TRUE;
}

}  // namespace

/// Parses the fields of a structure, as GStreamer's own tracers do.
TraceOptions parse_trace_options(const char* params) {
  TraceOptions options;
  if (!params || !*params) return options;
  const std::string text = std::string("npu,") + params;
  const StructureRef fields(gst_structure_from_string(text.c_str(), nullptr));
  if (!fields) {
    options.complaint = std::string("its parameters cannot be read: ") + params + "; " + kUsage;
    return options;
  }
  gst_structure_foreach(fields.get(), read_field, &options);
  return options;
}

}  // namespace gstnpu
