#include "count_meta.hpp"

#include <utility>

namespace gstnpu {
namespace {

using npu::vision::Counter;
using npu::vision::CountEvent;
using npu::vision::FramePoint;
using npu::vision::ZoneCount;

const char* name_of(CountEvent::Kind kind) {
  switch (kind) {
    case CountEvent::Kind::kEntered:
      return "entered";
    case CountEvent::Kind::kLeft:
      return "left";
    case CountEvent::Kind::kForward:
      return "forward";
    case CountEvent::Kind::kBackward:
      return "backward";
  }
  return "";
}

FrameCounts::Event event_of(const CountEvent& event, const Counter& counter) {
  const bool is_of_zone =
      event.kind == CountEvent::Kind::kEntered || event.kind == CountEvent::Kind::kLeft;
  FrameCounts::Event told{
      .kind = name_of(event.kind),
      .place = is_of_zone ? counter.zones()[event.place].name : counter.lines()[event.place].name,
      .id = event.id,
      .seconds = {}};
  if (event.kind == CountEvent::Kind::kLeft) {
    told.seconds = event.seconds;
  }
  return told;
}

// ---- Structures

void append(GValue* list, GstStructure* structure) {
  GValue value = G_VALUE_INIT;
  g_value_init(&value, GST_TYPE_STRUCTURE);
  g_value_take_boxed(&value, structure);
  gst_value_list_append_and_take_value(list, &value);
}

GstStructure* to_structure(const ZoneCount::Inside& inside) {
  return gst_structure_new("inside", "id", G_TYPE_UINT64, guint64{inside.id}, "seconds",
                           G_TYPE_DOUBLE, inside.seconds, nullptr);
}

template <typename Items, typename Make>
void set_list(GstStructure* structure, const char* field, const Items& items, Make&& make) {
  GValue list = G_VALUE_INIT;
  // Behind those of an element in front.
  const GValue* before = gst_structure_get_value(structure, field);
  g_value_init(&list, GST_TYPE_LIST);
  if (before && GST_VALUE_HOLDS_LIST(before)) {
    g_value_copy(before, &list);
  }
  for (const auto& item : items) append(&list, make(item));
  gst_structure_take_value(structure, field, &list);
}

/// x and y of each in turn.
void set_points(GstStructure* structure, const std::vector<FramePoint>& points) {
  GValue list = G_VALUE_INIT, value = G_VALUE_INIT;
  gst_value_array_init(&list, static_cast<guint>(2 * points.size()));
  g_value_init(&value, G_TYPE_DOUBLE);
  for (const FramePoint& point : points) {
    for (const double coordinate : {point.x, point.y}) {
      g_value_set_double(&value, coordinate);
      gst_value_array_append_value(&list, &value);
    }
  }
  gst_structure_take_value(structure, "points", &list);
}

std::vector<FramePoint> points_of(const GstStructure* structure) {
  std::vector<FramePoint> points;
  const GValue* list = gst_structure_get_value(structure, "points");
  if (!list || !GST_VALUE_HOLDS_ARRAY(list)) return points;
  const auto coordinate = [list](guint index) {
    const GValue* value = gst_value_array_get_value(list, index);
    return G_VALUE_HOLDS_DOUBLE(value) ? g_value_get_double(value) : 0;
  };
  for (guint i = 0; i + 1 < gst_value_array_get_size(list); i += 2) {
    points.push_back({coordinate(i), coordinate(i + 1)});
  }
  return points;
}

GstStructure* to_structure(const FrameCounts::Zone& zone) {
  GstStructure* structure =
      gst_structure_new("zone", "name", G_TYPE_STRING, zone.name.c_str(), "entered", G_TYPE_UINT64,
                        zone.entered, "left", G_TYPE_UINT64, zone.left, nullptr);
  if (zone.mean_seconds) {
    gst_structure_set(structure, "mean-seconds", G_TYPE_DOUBLE, *zone.mean_seconds, nullptr);
  }
  set_list(structure, "inside", zone.inside,
           [](const auto& inside) { return to_structure(inside); });
  set_points(structure, zone.points);
  return structure;
}

GstStructure* to_structure(const FrameCounts::Line& line) {
  GstStructure* structure =
      gst_structure_new("line", "name", G_TYPE_STRING, line.name.c_str(), "forward", G_TYPE_UINT64,
                        line.forward, "backward", G_TYPE_UINT64, line.backward, nullptr);
  set_points(structure, line.points);
  return structure;
}

/// Calls `read` with each structure of a list.
template <typename Read>
void each(const GstStructure* structure, const char* field, Read&& read) {
  const GValue* list = gst_structure_get_value(structure, field);
  if (!list || !GST_VALUE_HOLDS_LIST(list)) return;
  for (guint i = 0; i < gst_value_list_get_size(list); ++i) {
    const GValue* value = gst_value_list_get_value(list, i);
    if (GST_VALUE_HOLDS_STRUCTURE(value)) {
      read(gst_value_get_structure(value));
    }
  }
}

guint64 whole(const GstStructure* structure, const char* field) {
  guint64 number = 0;
  gst_structure_get_uint64(structure, field, &number);
  return number;
}

std::optional<double> real(const GstStructure* structure, const char* field) {
  gdouble number = 0;
  if (!gst_structure_get_double(structure, field, &number)) return std::nullopt;
  return number;
}

std::string text(const GstStructure* structure, const char* field) {
  const gchar* found = gst_structure_get_string(structure, field);
  return found ? found : "";
}

}  // namespace

FrameCounts counts_of(const Counter& counter) {
  FrameCounts counts;
  for (std::size_t i = 0; i < counter.zones().size(); ++i) {
    const ZoneCount& count = counter.zone_counts()[i];
    FrameCounts::Zone zone{counter.zones()[i].name,   count.inside, count.entered, count.left, {},
                           counter.zones()[i].corners};
    if (count.left > 0) {
      zone.mean_seconds = count.seconds_of_left / static_cast<double>(count.left);
    }
    counts.zones.push_back(std::move(zone));
  }
  for (std::size_t i = 0; i < counter.lines().size(); ++i) {
    const auto& count = counter.line_counts()[i];
    const auto& line = counter.lines()[i];
    counts.lines.push_back({line.name, count.forward, count.backward, {line.from, line.to}});
  }
  for (const CountEvent& event : counter.events())
    counts.events.push_back(event_of(event, counter));
  return counts;
}

/// Once a process: npupublish's plugin has this code, too.
void register_count_meta() {
  static const gchar* tags[] = {nullptr};
  static const GstMetaInfo* known = gst_meta_get_info(kCountMeta);
  static const GstMetaInfo* info =
      known ? known : gst_meta_register_custom(kCountMeta, tags, nullptr, nullptr, nullptr);
  (void)info;
}

GstStructure* event_structure(const char* name, const FrameCounts::Event& event) {
  GstStructure* structure =
      gst_structure_new(name, "event", G_TYPE_STRING, event.kind.c_str(), "place", G_TYPE_STRING,
                        event.place.c_str(), "id", G_TYPE_UINT64, event.id, nullptr);
  if (event.seconds) {
    gst_structure_set(structure, "seconds", G_TYPE_DOUBLE, *event.seconds, nullptr);
  }
  return structure;
}

void attach_counts(GstBuffer* buffer, const FrameCounts& counts) {
  GstCustomMeta* meta = gst_buffer_get_custom_meta(buffer, kCountMeta);
  if (meta == nullptr) {
    meta = gst_buffer_add_custom_meta(buffer, kCountMeta);
  }
  GstStructure* structure = gst_custom_meta_get_structure(meta);
  set_list(structure, "zones", counts.zones, [](const auto& zone) { return to_structure(zone); });
  set_list(structure, "lines", counts.lines, [](const auto& line) { return to_structure(line); });
  set_list(structure, "events", counts.events,
           [](const auto& event) { return event_structure("event", event); });
}

FrameCounts read_counts(GstBuffer* buffer) {
  FrameCounts counts;
  GstCustomMeta* meta = gst_buffer_get_custom_meta(buffer, kCountMeta);
  if (meta == nullptr) return counts;
  const GstStructure* structure = gst_custom_meta_get_structure(meta);
  each(structure, "zones", [&](const GstStructure* from) {
    FrameCounts::Zone zone{text(from, "name"),         {},
                           whole(from, "entered"),     whole(from, "left"),
                           real(from, "mean-seconds"), points_of(from)};
    each(from, "inside", [&](const GstStructure* inside) {
      zone.inside.push_back({whole(inside, "id"), real(inside, "seconds").value_or(0)});
    });
    counts.zones.push_back(std::move(zone));
  });
  each(structure, "lines", [&](const GstStructure* from) {
    counts.lines.push_back(
        {text(from, "name"), whole(from, "forward"), whole(from, "backward"), points_of(from)});
  });
  each(structure, "events", [&](const GstStructure* from) {
    counts.events.push_back(
        {text(from, "event"), text(from, "place"), whole(from, "id"), real(from, "seconds")});
  });
  return counts;
}

}  // namespace gstnpu
