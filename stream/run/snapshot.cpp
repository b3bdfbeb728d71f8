// The forms that REST gives.
#include "snapshot.hpp"

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
  Json copies = Json::array();
  for (const CopyCount& copy : snapshot.copies) {
    copies.push_back({{"reason", copy.reason}, {"cure", copy.cure}, {"frames", copy.frames}});
  }
  return {{"id", snapshot.id},
          {"state", name_of(snapshot.state)},
          {"error", snapshot.error},
          {"cure", snapshot.cure},
          {"source", snapshot.source},
          {"model", snapshot.model},
          {"width", snapshot.width},
          {"height", snapshot.height},
          {"fps", snapshot.fps},
          {"inferred_fps", snapshot.inferred_fps},
          {"latency_ms", {{"p50", snapshot.latency_p50_ms}, {"p95", snapshot.latency_p95_ms}}},
          {"queue", snapshot.queue},
          {"frames",
           {{"inferred", snapshot.frames_inferred},
            {"skipped", snapshot.frames_skipped},
            {"lost", snapshot.frames_lost}}},
          {"copies", copies},
          {"lines", places_json(snapshot.lines)},
          {"zones", places_json(snapshot.zones)},
          {"priority", snapshot.priority},
          {"min_fps", snapshot.min_fps},
          {"limited", snapshot.is_limited},
          {"restarts", snapshot.restarts},
          {"launch", snapshot.launch},
          {"paused", snapshot.is_paused}};
}

Json to_json(const Event& event) {
  return {{"number", event.number},
          {"time", event.time},
          {"stream", event.stream},
          {"kind", event.kind},
          {"text", event.text},
          {"picture", event.picture != nullptr},
          {"clip", event.clip.empty() ? Json() : Json(event.clip)}};
}

Json to_json(const DeviceReading& reading) {
  return {{"name", reading.name},
          {"utilization", reading.utilization ? Json(*reading.utilization) : Json()},
          {"memory_bytes", reading.memory_bytes ? Json(*reading.memory_bytes) : Json()},
          {"queue", reading.queue},
          {"inferences_per_second", reading.inferences_per_second}};
}

}  // namespace npustream
