// The tracer "npu": GST_TRACERS=npu prints on standard error what each npuinfer and npuimport did.
// It reads only their property "stats".
#define GST_USE_UNSTABLE_API  // tracers and their records
#include <gst/gst.h>
#include <gst/gsttracer.h>
#include <gst/gsttracerrecord.h>

#include <atomic>
#include <mutex>
#include <string>

#include "common/elements.hpp"
#include "common/gtype.hpp"
#include "common/refs.hpp"

#include "trace_options.hpp"
#include "trace_report.hpp"

namespace gstnpu {
namespace {

constexpr const char* kWatched = "npu-tracer";  // key of the tracer's data on an element

/// The tracer's data on an element.
struct Watched {
  std::mutex mutex;         // guards all below
  guint stream = 0;         // streams so far, the current one included
  bool is_told = true;      // the current stream's report was printed
  TraceSample last;         // at the last interval report, or when the stream began
  guint64 told_frames = 0;  // frames in the last stream report
};

class Tracer {
 public:
  void set_up(GstTracer* tracer);
  void begin_stream(GstElement* element);
  /// Prints the report of the whole stream, unless nothing has changed since it was last printed.
  void end_stream(GstElement* element);
  void tell_if_due(GstElement* element);

 private:
  Watched& watched(GstElement* element);
  void tell(GstElement* element, const Watched& watched, const TraceReport& report,
            const char* when);
  void log(const char* element, const Watched& watched, const TraceReport& report,
           const char* when);

  TraceOptions options_;
  GstTracerRecord* record_ = nullptr;  // gst-stats-1.0 and others read the log through it
  std::mutex watch_mutex_;             // held while an element's Watched is made
};

using NpuTracer = ObjectType<GstTracer, GstTracerClass, Tracer>;

// ---- Elements

bool is_ours(gpointer object) {
  static std::atomic<GType> known{0};
  if (known == 0) {
    known = g_type_from_name("GstNpuBase");  // registered with the first such element
  }
  return known != 0 && object && g_type_is_a(G_OBJECT_TYPE(object), known);
}

TraceSample sample_now(GstElement* element) {
  GstStructure* stats = nullptr;
  g_object_get(element, "stats", &stats, nullptr);
  return sample_of(*StructureRef(stats), g_get_monotonic_time());
}

Watched& Tracer::watched(GstElement* element) {
  const std::scoped_lock lock(watch_mutex_);
  auto* known = static_cast<Watched*>(g_object_get_data(G_OBJECT(element), kWatched));
  if (known) return *known;
  auto* made = new Watched;
  g_object_set_data_full(G_OBJECT(element), kWatched, made, end_of<Watched>);
  return *made;
}

void Tracer::begin_stream(GstElement* element) {
  Watched& watched = this->watched(element);
  const std::scoped_lock lock(watched.mutex);
  ++watched.stream;
  watched.is_told = false;
  watched.told_frames = 0;
  watched.last = {.at_us = g_get_monotonic_time()};
}

void Tracer::end_stream(GstElement* element) {
  Watched& watched = this->watched(element);
  const std::scoped_lock lock(watched.mutex);
  const TraceSample now = sample_now(element);
  if (watched.is_told && now.frames == watched.told_frames) return;
  watched.is_told = true;
  watched.told_frames = now.frames;
  tell(element, watched, report_of(now), "end");
}

void Tracer::tell_if_due(GstElement* element) {
  if (options_.interval_us == 0) return;
  Watched& watched = this->watched(element);
  const std::scoped_lock lock(watched.mutex);
  if (g_get_monotonic_time() - watched.last.at_us < options_.interval_us) return;
  const TraceSample now = sample_now(element);
  tell(element, watched, report_of(now, watched.last), "interval");
  watched.last = now;
}

// ---- Reports

void Tracer::tell(GstElement* element, const Watched& watched, const TraceReport& report,
                  const char* when) {
  // A copy, because an element outside of any bin may be renamed while it streams.
  const TextRef name(gst_object_get_name(GST_OBJECT(element)));
  const std::string who =
      std::string(name.get()) + ", stream " + std::to_string(watched.stream) + ", " + when;
  g_printerr("%s", to_text(report, who).c_str());
  log(name.get(), watched, report, when);
}

void Tracer::log(const char* element, const Watched& watched, const TraceReport& report,
                 const char* when) {
  const TraceSample& of = report.counted;
  gst_tracer_record_log(record_, element, guint64{watched.stream}, when, of.frames, of.inferred,
                        report.fps, report.utilisation, of.device_ns, of.queue_ns, of.p50_ns,
                        of.p95_ns, of.p99_ns, of.in_place, of.copied, of.dropped, of.late, of.lost,
                        of.gap, of.skipped, of.no_objects);
}

GstStructure* value_of(GType type, const char* description) {
  return gst_structure_new("value", "type", G_TYPE_GTYPE, type, "description", G_TYPE_STRING,
                           description, nullptr);
}

GstTracerRecord* new_record() {
  const auto number = [](const char* description) { return value_of(G_TYPE_UINT64, description); };
  const auto ratio = [](const char* description) { return value_of(G_TYPE_DOUBLE, description); };
  const auto text = [](const char* description) { return value_of(G_TYPE_STRING, description); };
  GstStructure* element =
      gst_structure_new("scope", "type", G_TYPE_GTYPE, G_TYPE_STRING, "related-to",
                        GST_TYPE_TRACER_VALUE_SCOPE, GST_TRACER_VALUE_SCOPE_ELEMENT, nullptr);
  const GType field = GST_TYPE_STRUCTURE;
  return gst_tracer_record_new(
      "npu.class", "element", field, element, "stream", field, number("of the element, from 1"),
      "when", field, text("interval, or end: the whole stream"), "frames", field,
      number("that came in"), "inferred", field, number("inferences"), "fps", field,
      ratio("inferences a second"), "utilisation", field, ratio("busy time over wall time"),
      "device-time", field, number("median, ns"), "queue-time", field, number("median, ns"),
      "latency-p50", field, number("ns"), "latency-p95", field, number("ns"), "latency-p99", field,
      number("ns"), "zero-copy", field, number("frames read in place"), "copied", field,
      number("frames"), "dropped", field, number("frames, drop=busy"), "late", field,
      number("frames, drop=late"), "lost", field, number("frames"), "gap", field, number("frames"),
      "skipped", field, number("frames"), "no-objects", field, number("frames, roi-list"), nullptr);
}

// ---- Hooks

Tracer& tracer_of(GObject* self) {
  return NpuTracer::state_of(self);
}

/// Reads the parent without the pad's lock: newer GStreamers hold it around event hooks. The
/// element lives while its pad pushes.
GstObject* owner_of(GstPad* pad) {
  return GST_OBJECT_PARENT(pad);
}

void on_push(GObject* self, GstClockTime, GstPad* pad, GstBuffer*) {
  GstObject* const owner = owner_of(pad);
  if (is_ours(owner)) {
    tracer_of(self).tell_if_due(GST_ELEMENT(owner));
  }
}

/// Dropped frames cause QoS events and nothing else.
void on_push_event(GObject* self, GstClockTime, GstPad* pad, GstEvent* event) {
  GstObject* const owner = owner_of(pad);
  if (!is_ours(owner)) return;
  auto* element = GST_ELEMENT(owner);
  const bool is_end = GST_EVENT_TYPE(event) == GST_EVENT_EOS && GST_PAD_IS_SRC(pad);
  is_end ? tracer_of(self).end_stream(element) : tracer_of(self).tell_if_due(element);
}

void before_change(GObject* self, GstClockTime, GstElement* element, GstStateChange change) {
  if (change == GST_STATE_CHANGE_READY_TO_PAUSED && is_ours(element)) {
    tracer_of(self).begin_stream(element);
  }
}

void after_change(GObject* self, GstClockTime, GstElement* element, GstStateChange change,
                  GstStateChangeReturn) {
  if (change == GST_STATE_CHANGE_PAUSED_TO_READY && is_ours(element)) {
    tracer_of(self).end_stream(element);
  }
}

void Tracer::set_up(GstTracer* tracer) {
  gchar* params = nullptr;
  g_object_get(tracer, "params", &params, nullptr);
  options_ = parse_trace_options(TextRef(params).get());
  if (!options_.complaint.empty()) {
    g_printerr("npu: the tracer: %s\n", options_.complaint.c_str());
  }
  record_ = new_record();
  GST_OBJECT_FLAG_SET(record_, GST_OBJECT_FLAG_MAY_BE_LEAKED);
  gst_tracing_register_hook(tracer, "pad-push-pre", G_CALLBACK(on_push));
  gst_tracing_register_hook(tracer, "pad-push-event-pre", G_CALLBACK(on_push_event));
  gst_tracing_register_hook(tracer, "element-change-state-pre", G_CALLBACK(before_change));
  gst_tracing_register_hook(tracer, "element-change-state-post", G_CALLBACK(after_change));
}

void constructed(GObject* object) {
  G_OBJECT_CLASS(NpuTracer::parent_class())->constructed(object);
  NpuTracer::state_of(object).set_up(GST_TRACER(object));
}

void class_init(GstTracerClass* klass) {
  G_OBJECT_CLASS(klass)->constructed = constructed;
}

}  // namespace

gboolean register_npu_tracer(GstPlugin* plugin) {
  // GStreamer may be built without tracers. Its refusal does not matter.
  static_cast<void>(
      gst_tracer_register(plugin, "npu", NpuTracer::get<class_init>("NpuTracer", GST_TYPE_TRACER)));
  return TRUE;
}

}  // namespace gstnpu
