#include "count_places.hpp"

#include <glib.h>

#include <algorithm>
#include <filesystem>
#include <initializer_list>
#include <nlohmann/json.hpp>
#include <set>
#include <utility>

#include <npucore/error.hpp>

namespace gstnpu {
namespace {

using Json = nlohmann::json;
using npu::vision::FramePoint;

constexpr std::size_t kMostBytes = std::size_t{1} << 20;
constexpr std::size_t kMostPlaces = 256, kMostCorners = 1024;

[[noreturn]] void refuse(const std::string& source, const std::string& why) {
  throw npu::Error(npu::ErrorCode::kInvalidArgument, source + ": " + why);
}

void check_keys(const Json& object, const std::string& where,
                std::initializer_list<const char*> known) {
  if (!object.is_object()) {
    refuse(where, "must be an object, {...}");
  }
  for (const auto& item : object.items()) {
    const std::string& key = item.key();
    const bool is_known =
        std::any_of(known.begin(), known.end(), [&](const char* name) { return key == name; });
    if (!is_known) {
      refuse(where, "has the unknown key \"" + key + "\"");
    }
  }
}

void check_count(const Json& list, const std::string& where, std::size_t most) {
  if (list.size() <= most) return;
  refuse(where, "has " + std::to_string(list.size()) + " of them, and may have " +
                    std::to_string(most) + " at most");
}

FramePoint parse_point(const Json& point, const std::string& where) {
  const bool is_pair =
      point.is_array() && point.size() == 2 && point[0].is_number() && point[1].is_number();
  if (!is_pair) {
    refuse(where, "must be two numbers, [x, y], from 0 to 1 of the frame");
  }
  return {point[0].get<double>(), point[1].get<double>()};
}

std::vector<FramePoint> parse_points(const Json& place, const std::string& where) {
  const auto points = place.find("points");
  if (points == place.end() || !points->is_array()) {
    refuse(where, "needs \"points\", a list of [x, y]");
  }
  check_count(*points, where + ".points", kMostCorners);
  std::vector<FramePoint> parsed;
  for (std::size_t i = 0; i < points->size(); ++i) {
    parsed.push_back(parse_point((*points)[i], where + ".points[" + std::to_string(i) + "]"));
  }
  return parsed;
}

std::string parse_name(const Json& place, const std::string& where, std::set<std::string>* names) {
  const auto name = place.find("name");
  if (name == place.end() || !name->is_string() || name->get<std::string>().empty()) {
    refuse(where, "needs a \"name\"");
  }
  if (!names->insert(name->get<std::string>()).second) {
    refuse(where, "has the name \"" + name->get<std::string>() + "\", which another has too");
  }
  return name->get<std::string>();
}

/// Calls `each` with every item of a list, which may be missing, and with its place in errors.
template <typename Each>
void for_each_item(const Json& json, const char* key, const std::string& source, std::size_t most,
                   Each&& each) {
  const auto list = json.find(key);
  if (list == json.end()) return;
  const std::string where = source + ": " + key;
  if (!list->is_array()) {
    refuse(where, "must be a list, [...]");
  }
  check_count(*list, where, most);
  for (std::size_t i = 0; i < list->size(); ++i) {
    each((*list)[i], where + "[" + std::to_string(i) + "]");
  }
}

/// Calls `add` with the name and the points of each place.
template <typename Add>
void parse_list(const Json& json, const char* key, const std::string& source, Add&& add) {
  std::set<std::string> names;
  for_each_item(json, key, source, kMostPlaces, [&](const Json& place, const std::string& where) {
    check_keys(place, where, {"name", "points"});
    const std::string name = parse_name(place, where, &names);
    add(name, parse_points(place, where), where);
  });
}

/// As editors count them; `byte` from 1 on. The parser's own words count a line break to the next
/// line, and quote what it read, however long.
std::string line_and_column(const std::string& text, std::size_t byte) {
  const std::size_t at = std::min(byte, text.size() + 1) - 1;
  const std::string before = text.substr(0, at);
  const auto line = std::count(before.begin(), before.end(), '\n') + 1;
  const std::size_t column = at - (before.rfind('\n') + 1) + 1;
  return "line " + std::to_string(line) + ", column " + std::to_string(column);
}

/// Refuses a key that occurs twice: the first value would be lost silently.
Json parse_json(const std::string& text, const std::string& source) {
  if (text.size() > kMostBytes) {
    refuse(source, "is longer than 1 MiB");
  }
  std::vector<std::set<std::string>> open;  // keys of objects that have not ended
  const auto look = [&](int, Json::parse_event_t event, const Json& parsed) {
    if (event == Json::parse_event_t::object_start) {
      open.emplace_back();
    } else if (event == Json::parse_event_t::object_end) {
      open.pop_back();
    } else if (event == Json::parse_event_t::key && !open.back().insert(parsed).second) {
      refuse(source, "has the key " + parsed.dump() + " twice in one object");
    }
    return true;
  };
  try {
    return Json::parse(text, look);
  } catch (const Json::parse_error& error) {
    const std::size_t byte = std::max<std::size_t>(error.byte, 1);
    refuse(source, "is no JSON: look at " + line_and_column(text, byte));
  } catch (const Json::out_of_range&) {
    refuse(source, "has a number that is too large");
  }
}

/// A device or a pipe may have no end.
std::string read_text(const std::string& path) {
  std::error_code error;
  if (!std::filesystem::is_regular_file(path, error)) {
    refuse(path, error ? error.message() : "is no regular file");
  }
  if (std::filesystem::file_size(path, error) > kMostBytes) {
    refuse(path, "is longer than 1 MiB");
  }
  g_autofree gchar* text = nullptr;
  gsize size = 0;
  g_autoptr(GError) failure = nullptr;
  if (!g_file_get_contents(path.c_str(), &text, &size, &failure)) {
    refuse(path, failure->message);
  }
  return {text, size};
}

std::uint64_t total_of(const Json& place, const char* key, const std::string& where) {
  const auto found = place.find(key);
  if (found == place.end()) return 0;
  if (!found->is_number_unsigned()) {
    refuse(where + "." + key, "must be a whole number from 0");
  }
  return found->get<std::uint64_t>();
}

/// Null, as where nobody has left, is 0.
double mean_of(const Json& zone, const std::string& where) {
  const auto found = zone.find("mean_seconds");
  if (found == zone.end() || found->is_null()) return 0;
  const double mean = found->is_number() ? found->get<double>() : -1;
  if (!(mean >= 0)) {
    refuse(where + ".mean_seconds", "must be a number from 0");
  }
  return mean;
}

/// Calls `set` with the index among `places` and the totals of each place that is there.
template <typename Places, typename Set>
void for_each_total(const Json& json, const char* key, const std::string& source,
                    const Places& places, Set&& set) {
  for_each_item(json, key, source, G_MAXSIZE, [&](const Json& totals, const std::string& where) {
    if (!totals.is_object() || !totals.contains("name")) {
      refuse(where, "needs a \"name\"");
    }
    for (std::size_t place = 0; place < places.size(); ++place) {
      if (totals["name"] == places[place].name) {
        set(place, totals, where);
      }
    }
  });
}

}  // namespace

void set_totals(const std::string& text, const std::string& source, npu::vision::Counter* counter) {
  const Json json = parse_json(text, source);
  if (!json.is_object()) {
    refuse(source, "must be an object, {...}");
  }
  for_each_total(json, "zones", source, counter->zone_counts(),
                 [&](std::size_t zone, const Json& totals, const std::string& where) {
                   const std::uint64_t left = total_of(totals, "left", where);
                   counter->set_zone_totals(zone, total_of(totals, "entered", where), left,
                                            mean_of(totals, where) * static_cast<double>(left));
                 });
  for_each_total(json, "lines", source, counter->line_counts(),
                 [&](std::size_t line, const Json& totals, const std::string& where) {
                   const std::uint64_t forward = total_of(totals, "forward", where);
                   counter->set_line_totals(line, forward, total_of(totals, "backward", where));
                 });
}

CountPlaces parse_count_places(const std::string& text, const std::string& source) {
  const Json json = parse_json(text, source);
  check_keys(json, source, {"zones", "lines"});
  CountPlaces places;
  parse_list(json, "zones", source, [&](const std::string& name, auto points, const auto&) {
    places.zones.push_back({name, std::move(points)});
  });
  parse_list(json, "lines", source, [&](const std::string& name, auto points, const auto& where) {
    if (points.size() != 2) {
      refuse(where, "needs two points");
    }
    places.lines.push_back({name, points[0], points[1]});
  });
  if (places.zones.empty() && places.lines.empty()) {
    refuse(source, "has neither zones nor lines");
  }
  return places;
}

CountPlaces read_count_places(const std::string& path) {
  return parse_count_places(read_text(path), path);
}

}  // namespace gstnpu
