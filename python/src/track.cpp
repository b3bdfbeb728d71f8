#include <mutex>

#include <npuvision/counter.hpp>
#include <npuvision/tracker.hpp>

#include "answer.hpp"

namespace pynpu {
namespace {

using namespace nb::literals;
namespace vision = npu::vision;
using Point = std::pair<double, double>;

/// Gives the objects of an answer their identities.
void track(vision::Tracker& tracker, Answer& answer, double seconds) {
  tracker.update(seconds, answer.found.objects, answer.frame);
  std::vector<std::int64_t> ids(answer.found.objects.size(), -1);
  for (const vision::Track& found : tracker.tracks()) {
    if (found.object < ids.size() && found.id != 0) {
      ids[found.object] = static_cast<std::int64_t>(found.id);
    }
  }
  answer.tracker_id = std::move(ids);
}

vision::FramePoint point_of(const Point& point) {
  return {point.first, point.second};
}

vision::Counter counter_of(const std::map<std::string, std::vector<Point>>& zones,
                           const std::map<std::string, std::pair<Point, Point>>& lines,
                           double lost_seconds, double margin) {
  std::vector<vision::Zone> all_zones;
  for (const auto& [name, corners] : zones) {
    all_zones.push_back({name, {}});
    for (const Point& corner : corners) all_zones.back().corners.push_back(point_of(corner));
  }
  std::vector<vision::CountLine> all_lines;
  for (const auto& [name, ends] : lines) {
    all_lines.push_back({name, point_of(ends.first), point_of(ends.second)});
  }
  return {std::move(all_zones), std::move(all_lines), lost_seconds, margin};
}

nb::list events_of(const vision::Counter& counter) {
  nb::list events;
  for (const vision::CountEvent& event : counter.events()) {
    events.append(
        nb::make_tuple(to_string(event.kind), event.place, event.id, event.seconds.value_or(0)));
  }
  return events;
}

nb::list count(vision::Counter& counter, const Answer& answer, double seconds) {
  if (!answer.tracker_id) {
    refuse("the answer has no identities to count: give it to Tracker.update() first");
  }
  std::vector<vision::Sighting> sightings;
  for (std::size_t i = 0; i < answer.found.objects.size(); ++i) {
    const vision::Object& object = answer.found.objects[i];
    const std::int64_t id = answer.tracker_id->at(i);
    if (id < 0) continue;
    sightings.push_back({static_cast<std::uint64_t>(id),
                         {(object.left + object.right) / 2 / answer.frame.width,
                          object.bottom / answer.frame.height}});
  }
  counter.update(seconds, sightings);
  return events_of(counter);
}

nb::dict zones_of(const vision::Counter& counter) {
  nb::dict zones;
  for (const vision::ZoneCount& found : counter.zone_counts()) {
    nb::list inside;
    for (const auto& object : found.inside)
      inside.append(nb::make_tuple(object.id, object.seconds));
    nb::dict zone;
    zone["inside"] = inside;
    zone["entered"] = found.entered;
    zone["left"] = found.left;
    zone["seconds_of_left"] = found.seconds_of_left;
    zones[found.name.c_str()] = zone;
  }
  return zones;
}

nb::dict lines_of(const vision::Counter& counter) {
  nb::dict lines;
  for (const vision::LineCount& found : counter.line_counts()) {
    lines[found.name.c_str()] = nb::make_tuple(found.forward, found.backward);
  }
  return lines;
}

void bind_tracker(nb::module_& module) {
  using vision::Tracker;
  nb::class_<Tracker>(module, "Tracker",
                      "Gives objects identities that last from frame to frame (ByteTrack).")
      .def(
          "__init__",
          [](Tracker* self, float high_confidence, float low_confidence,
             std::uint32_t confirm_after, double lost_seconds, bool across_labels) {
            new (self) Tracker(vision::TrackerOptions{high_confidence, low_confidence,
                                                      confirm_after, lost_seconds, across_labels});
          },
          nb::kw_only(), "high_confidence"_a = 0.5F, "low_confidence"_a = 0.1F,
          "confirm_after"_a = 2, "lost_seconds"_a = 1.0, "across_labels"_a = false)
      .def(
          "update",
          [](Tracker& tracker, nb::object answer, double seconds) {
            track(tracker, nb::cast<Answer&>(answer), seconds);
            return answer;
          },
          "answer"_a, "seconds"_a,
          "Takes a frame's answer, at this stream time, and sets its tracker_id: of the 1024 most "
          "confident objects at most. Returns it.")
      .def("reset", &Tracker::reset, "Ends all tracks. Identities are never reused.");
}

}  // namespace

void bind_track(nb::module_& module) {
  bind_tracker(module);
  using vision::Counter;
  nb::class_<Counter>(
      module, "Counter",
      "Counts objects in zones and across lines; points are (x, y), 0..1 of the frame. "
      "Crossing a line from left to right, seen from its first point to its second, is "
      "forward.")
      .def(
          "__init__",
          [](Counter* self, const std::map<std::string, std::vector<Point>>& zones,
             const std::map<std::string, std::pair<Point, Point>>& lines, double lost_seconds,
             double margin) { new (self) Counter(counter_of(zones, lines, lost_seconds, margin)); },
          "zones"_a = std::map<std::string, std::vector<Point>>(),
          "lines"_a = std::map<std::string, std::pair<Point, Point>>(), nb::kw_only(),
          "lost_seconds"_a = 1.0, "margin"_a = 0.0)
      .def("update", &count, "answer"_a, "seconds"_a,
           "Takes a tracked answer, at this stream time. Returns its events: (kind, place, id, "
           "seconds "
           "inside), of 'entered', 'left', 'forward', 'backward'.")
      .def_prop_ro("zones", &zones_of,
                   "By name: inside [(id, seconds)], entered, left, seconds_of_left.")
      .def_prop_ro("lines", &lines_of, "By name: (forward, backward).")
      .def("forget_objects", &Counter::forget_objects, "After a seek; totals stay.");
}

}  // namespace pynpu
