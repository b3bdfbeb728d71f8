#include "properties.hpp"

#include "common/gtype.hpp"

namespace gstnpu {
namespace {

using S = PublishState;
using V = PublishSettings;

constexpr GEnumValue kPolicies[] = {
    {static_cast<gint>(PublishPolicy::kBlock), "Frames wait for room; a failure is an error",
     "block"},
    {static_cast<gint>(PublishPolicy::kDropOld), "The oldest line is dropped", "drop-old"},
    {static_cast<gint>(PublishPolicy::kDropNew), "The new line is dropped", "drop-new"},
    {0, nullptr, nullptr}};
constexpr GEnumValue kFormats[] = {
    {static_cast<gint>(PublishFormat::kNpu), "As docs/json.md describes it", "npu"},
    {static_cast<gint>(PublishFormat::kDlstreamer), "As DL Streamer's gvametaconvert",
     "dlstreamer"},
    {0, nullptr, nullptr}};

template <auto member>
Property<S> text(const char* name, const char* nick, const char* blurb) {
  return property<S, member>(g_param_spec_string(name, nick, blurb, "", kUntilReady));
}

template <auto member>
Property<S> flag(const char* name, const char* nick, const char* blurb) {
  return property<S, member>(g_param_spec_boolean(name, nick, blurb, FALSE, kUntilReady));
}

template <auto member>
Property<S> number(const char* name, const char* nick, const char* blurb, guint least, guint most) {
  return property<S, member>(
      g_param_spec_uint(name, nick, blurb, least, most, V().*member, kUntilReady));
}

template <auto member>
Property<S> choice(const char* name, const char* nick, const char* blurb, GType type) {
  return property<S, member>(
      g_param_spec_enum(name, nick, blurb, type, static_cast<gint>(V().*member), kUntilReady));
}

GstStructure* structure_of(const Publisher::Stats& stats) {
  return gst_structure_new("stats", "published", G_TYPE_UINT64, stats.published, "dropped",
                           G_TYPE_UINT64, stats.dropped, "failed", G_TYPE_UINT64, stats.failed,
                           "queued", G_TYPE_UINT64, stats.queued, nullptr);
}

}  // namespace

std::vector<Property<PublishState>> publish_properties() {
  return {
      text<&V::location>("location", "Location",
                         "File, fd:NUMBER, unix:PATH, tcp://HOST:PORT, mqtt[s]://HOST[:PORT]/TOPIC "
                         "or kafka://HOST[:PORT],.../TOPIC; empty: stdout"),
      choice<&V::policy>("policy", "Policy", "What happens without room for a line, or on failure",
                         enum_type<kPolicies>("NpuPublishPolicy")),
      number<&V::queue_size>("queue-size", "Queue size", "Lines that may wait", 1, 1000000),
      number<&V::drain_time_ms>("drain-time", "Drain time",
                                "Milliseconds that a stop waits for lines to get out", 0, 3600000),
      text<&V::stream_id>("stream-id", "Stream id", "Adds \"stream\", its name; empty: none"),
      flag<&V::wall_clock>("wall-clock", "Wall clock", "Add \"time\", when the frame was taken"),
      flag<&V::tensors>("tensors", "Tensors", "Add name, type and shape of each tensor"),
      choice<&V::format>("format", "Format", "What a frame's JSON looks like",
                         enum_type<kFormats>("NpuPublishFormat")),
      flag<&V::append>("append", "Append", "Add to what the file holds"),
      text<&V::broker_config>("broker-config", "Broker configuration",
                              "KEY=VALUE,... by the names of mosquitto_pub or librdkafka"),
      text<&V::broker_config_file>("broker-config-file", "Broker configuration file",
                                   "File of KEY=VALUE lines, for secrets"),
      {g_param_spec_boxed("stats", "Statistics", "Lines: published, dropped, failed, queued",
                          GST_TYPE_STRUCTURE, kReadOnly),
       nullptr,
       [](const S& state, GValue* value) {
         g_value_take_boxed(value, structure_of(state.stats()));
       }},
  };
}

}  // namespace gstnpu
