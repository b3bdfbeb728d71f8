#include "frame_counts.hpp"

#include <utility>

namespace gstnpu {
namespace {

using npu::vision::Counter;
using npu::vision::CountEvent;
using npu::vision::ZoneCount;

FrameCounts::Event event_of(const CountEvent& event, const Counter& counter) {
  const bool is_of_zone =
      event.kind == CountEvent::Kind::kEntered || event.kind == CountEvent::Kind::kLeft;
  constexpr const char* kKinds[] = {"entered", "left", "forward", "backward"};
  FrameCounts::Event told{
      .kind = kKinds[static_cast<std::size_t>(event.kind)],
      .place = is_of_zone ? counter.zones()[event.place].name : counter.lines()[event.place].name,
      .id = event.id,
      .seconds = {}};
  if (event.kind == CountEvent::Kind::kLeft) {
    told.seconds = event.seconds;
  }
  return told;
}

}  // namespace

void add_counts(const Counter& counter, FrameCounts* counts) {
  for (std::size_t i = 0; i < counter.zones().size(); ++i) {
    const ZoneCount& count = counter.zone_counts()[i];
    FrameCounts::Zone zone{counter.zones()[i].name,   count.inside, count.entered, count.left, {},
                           counter.zones()[i].corners};
    if (count.left > 0) {
      zone.mean_seconds = count.seconds_of_left / static_cast<double>(count.left);
    }
    counts->zones.push_back(std::move(zone));
  }
  for (std::size_t i = 0; i < counter.lines().size(); ++i) {
    const auto& count = counter.line_counts()[i];
    const auto& line = counter.lines()[i];
    counts->lines.push_back({line.name, count.forward, count.backward, {line.from, line.to}});
  }
  for (const CountEvent& event : counter.events()) {
    counts->events.push_back(event_of(event, counter));
  }
}

}  // namespace gstnpu
