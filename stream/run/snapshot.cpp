// The forms that REST gives.
#include "snapshot.hpp"

#include <functional>

namespace npustream {
namespace {

Json places_json(const std::vector<PlaceCounts>& places) {
  Json list = Json::array();
  for (const PlaceCounts& place : places) {
    Json counts = Json::object();
    for (const auto& [name, count] : place.counts) counts[name] = count;
    list.push_back(
        {{"name", place.place.name}, {"points", place.place.points}, {"counts", counts}});
  }
  return list;
}

/// A key of a JSON object: what it holds, and where it comes from.
template <typename T>
struct Field {
  const char* name;
  Json schema;
  std::function<Json(const T&)> value;
};

template <typename T>
Json object_of(const std::vector<Field<T>>& fields, const T& from) {
  Json object = Json::object();
  for (const Field<T>& field : fields) object[field.name] = field.value(from);
  return object;
}

Json typed(const char* type, const char* meaning) {
  return {{"type", type}, {"description", meaning}};
}
Json or_null(const char* type, const char* meaning) {
  return {{"type", Json::array({type, "null"})}, {"description", meaning}};
}
Json list_of(const Json& item) {
  return {{"type", "array"}, {"items", item}};
}
Json object_schema(const Json& properties) {
  Json required = Json::array();
  for (const auto& [name, schema] : properties.items()) required.push_back(name);
  return {{"type", "object"}, {"properties", properties}, {"required", required}};
}
template <typename T>
Json object_schema(const std::vector<Field<T>>& fields) {
  Json properties = Json::object();
  for (const Field<T>& field : fields) properties[field.name] = field.schema;
  return object_schema(properties);
}

Json place_schema(const char* counts) {
  const Json count = {{"type", "integer"}, {"minimum", 0}};
  return list_of(object_schema(
      {{"name", typed("string", "as the file has it")},
       {"points", list_of(list_of({{"type", "number"}}))},
       {"counts",
        {{"type", "object"}, {"additionalProperties", count}, {"description", counts}}}}));
}

const std::vector<Field<StreamSnapshot>>& stream_fields() {
  using S = StreamSnapshot;
  static const std::vector<Field<S>> fields = {
      {"id", typed("string", "its name"), [](const S& s) { return s.id; }},
      {"state",
       {{"enum", {"starting", "playing", "paused", "waiting", "failed", "ended"}}},
       [](const S& s) { return name_of(s.state); }},
      {"error", typed("string", "of the last failure; empty while it plays"),
       [](const S& s) { return s.error; }},
      {"cure", typed("string", "what to do about the error"), [](const S& s) { return s.cure; }},
      {"source", typed("object", "as the file has it, without passwords"),
       [](const S& s) { return s.source; }},
      {"model", typed("string", "its name; of a cascade the first"),
       [](const S& s) { return s.model; }},
      {"width", typed("integer", "of frames, pixels; 0: no frame yet"),
       [](const S& s) { return s.width; }},
      {"height", typed("integer", "likewise"), [](const S& s) { return s.height; }},
      {"fps", typed("number", "frames a second"), [](const S& s) { return s.fps; }},
      {"inferred_fps", typed("number", "inferences a second"),
       [](const S& s) { return s.inferred_fps; }},
      {"latency_ms",
       object_schema({{"p50", typed("number", "from a frame's arrival to its answer, median")},
                      {"p95", typed("number", "which 95 % do not exceed")}}),
       [](const S& s) {
         return Json{{"p50", s.latency_p50_ms}, {"p95", s.latency_p95_ms}};
       }},
      {"queue", typed("integer", "frames that wait for the device or are in it"),
       [](const S& s) { return s.queue; }},
      {"frames",
       object_schema({{"inferred", typed("integer", "since the stream was added")},
                      {"skipped", typed("integer", "by the interval")},
                      {"lost", typed("integer", "for want of time, or of the device")}}),
       [](const S& s) {
         return Json{{"inferred", s.frames_inferred},
                     {"skipped", s.frames_skipped},
                     {"lost", s.frames_lost}};
       }},
      {"copies",
       list_of(object_schema({{"reason", typed("string", "of copies by the processor")},
                              {"cure", typed("string", "what avoids them")},
                              {"frames", typed("integer", "how many")}})),
       [](const S& s) {
         Json copies = Json::array();
         for (const CopyCount& copy : s.copies)
           copies.push_back(
               {{"reason", copy.reason}, {"cure", copy.cure}, {"frames", copy.frames}});
         return copies;
       }},
      {"lines", place_schema("forward, backward"), [](const S& s) { return places_json(s.lines); }},
      {"zones", place_schema("entered, left, inside"),
       [](const S& s) { return places_json(s.zones); }},
      {"priority", typed("integer", "as the file has it"), [](const S& s) { return s.priority; }},
      {"min_fps", typed("number", "likewise"), [](const S& s) { return s.min_fps; }},
      {"limited", typed("boolean", "by overload"), [](const S& s) { return s.is_limited; }},
      {"restarts", typed("integer", "after failures"), [](const S& s) { return s.restarts; }},
      {"launch", typed("string", "the launch line, for gst-launch-1.0"),
       [](const S& s) { return s.launch; }},
      {"paused", typed("boolean", "as the file has it"), [](const S& s) { return s.is_paused; }}};
  return fields;
}

const std::vector<Field<Event>>& event_fields() {
  static const std::vector<Field<Event>> fields = {
      {"number", typed("integer", "from 1"), [](const Event& e) { return e.number; }},
      {"time",
       {{"type", "string"}, {"format", "date-time"}},
       [](const Event& e) { return e.time; }},
      {"stream", typed("string", "empty: of the whole process"),
       [](const Event& e) { return e.stream; }},
      {"kind",
       typed("string",
             "entered, left, forward, backward, failed, ended, overload, recovered, reloaded, "
             "recorded, not-recorded, warning"),
       [](const Event& e) { return e.kind; }},
      {"text", typed("string", "for people"), [](const Event& e) { return e.text; }},
      {"picture", typed("boolean", "whether there is one"),
       [](const Event& e) { return e.picture != nullptr; }},
      {"clip",
       or_null("string", "recorded: the file's path, as the stream's record has its folder"),
       [](const Event& e) { return e.clip.empty() ? Json() : Json(e.clip); }}};
  return fields;
}

const std::vector<Field<DeviceReading>>& device_fields() {
  using D = DeviceReading;
  static const std::vector<Field<D>> fields = {
      {"name", typed("string", "as its driver gives it"), [](const D& d) { return d.name; }},
      {"driver", typed("string", "version; empty: not known"), [](const D& d) { return d.driver; }},
      {"compiler", typed("string", "likewise"), [](const D& d) { return d.compiler; }},
      {"utilization", or_null("number", "0 to 1"),
       [](const D& d) { return d.utilization ? Json(*d.utilization) : Json(); }},
      {"memory_bytes", or_null("integer", "in use"),
       [](const D& d) { return d.memory_bytes ? Json(*d.memory_bytes) : Json(); }},
      {"queue", typed("integer", "frames at it or waiting"), [](const D& d) { return d.queue; }},
      {"inferences_per_second", typed("number", "of all streams"),
       [](const D& d) { return d.inferences_per_second; }}};
  return fields;
}

}  // namespace

const char* name_of(StreamState state) {
  switch (state) {
    case StreamState::kStarting:
      return "starting";
    case StreamState::kPlaying:
      return "playing";
    case StreamState::kPaused:
      return "paused";
    case StreamState::kWaiting:
      return "waiting";
    case StreamState::kFailed:
      return "failed";
    case StreamState::kEnded:
      return "ended";
  }
  return "";
}

Json to_json(const StreamSnapshot& snapshot) {
  return object_of(stream_fields(), snapshot);
}
Json to_json(const Event& event) {
  return object_of(event_fields(), event);
}
Json to_json(const DeviceReading& reading) {
  return object_of(device_fields(), reading);
}

Json snapshot_schemas() {
  return {{"StreamState", object_schema(stream_fields())},
          {"Event", object_schema(event_fields())},
          {"Device", object_schema(device_fields())}};
}

}  // namespace npustream
