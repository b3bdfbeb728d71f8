#include <algorithm>
#include <cmath>
#include <initializer_list>
#include <optional>
#include <set>
#include <string_view>

#include <npucore/model.hpp>
#include <npuvision/count_places.hpp>

#include "card/value.hpp"

namespace npu::vision {
namespace {

constexpr std::size_t kMostBytes = std::size_t{1} << 20;
constexpr std::size_t kMostPlaces = 256, kMostCorners = 1024;

/// The items of a list, which may be missing.
std::vector<Value> items_of(const std::optional<Value>& list, std::size_t most) {
  if (!list) return {};
  auto items = list->items();
  if (items.size() > most) {
    list->refuse("has " + std::to_string(items.size()) + " of them, and may have " +
                 std::to_string(most) + " at most");
  }
  return items;
}

void check_object(const Value& object) {
  if (!object.is_map()) {
    object.refuse("must be an object, {...}");
  }
}

void check_keys(const Value& object, std::initializer_list<std::string_view> known) {
  check_object(object);
  for (const auto& [key, value] : object.entries()) {
    if (std::find(known.begin(), known.end(), key) == known.end()) {
      object.refuse("has the unknown key " + shown(key));
    }
  }
}

std::string name_of(const Value& place) {
  const auto name = place.find("name");
  if (!name) {
    place.refuse("needs a \"name\"");
  }
  return name->text();
}

/// Counter refuses those outside of the frame.
std::vector<FramePoint> points_of(const Value& place) {
  constexpr double kAny = CardLimits::kAnyNumber;
  const auto list = place.find("points");
  if (!list || !list->is_list()) {
    place.refuse("needs \"points\", a list of [x, y]");
  }
  std::vector<FramePoint> points;
  for (const Value& point : items_of(list, kMostCorners)) {
    const auto numbers = point.is_list() ? point.items() : std::vector<Value>();
    if (numbers.size() != 2) {
      point.refuse("must be two numbers, [x, y], from 0 to 1 of the frame");
    }
    points.push_back({numbers[0].number(-kAny, kAny), numbers[1].number(-kAny, kAny)});
  }
  return points;
}

/// Calls `add` with each place, its name and its points.
template <typename Add>
void for_each_place(const Value& root, const char* key, const Add& add) {
  std::set<std::string> names;
  for (const Value& place : items_of(root.find_even_null(key), kMostPlaces)) {
    check_keys(place, {"name", "points"});
    const std::string name = name_of(place);
    if (name.empty()) {
      place.refuse("needs a \"name\"");
    }
    if (!names.insert(name).second) {
      place.refuse("has the name " + shown(name) + ", which another has too");
    }
    add(place, name, points_of(place));
  }
}

std::uint64_t total_of(const Value& totals, const char* key) {
  constexpr double kMost = 9007199254740992;  // above it doubles leave numbers out
  const auto total = totals.find_even_null(key);
  const double number = total ? total->number(0, kMost) : 0;
  if (number != std::floor(number)) {
    total->refuse("must be a whole number");
  }
  return static_cast<std::uint64_t>(number);
}

/// Calls `set` with the index among `places` and the totals of each place that is there.
template <typename Places, typename Set>
void for_each_total(const Value& root, const char* key, const Places& places, const Set& set) {
  for (const Value& totals : items_of(root.find_even_null(key), SIZE_MAX)) {
    const std::string name = name_of(totals);
    for (std::size_t place = 0; place < places.size(); ++place) {
      if (places[place].name == name) {
        set(place, totals);
      }
    }
  }
}

}  // namespace

CountPlaces count_places_from_json(const std::string& json, const std::string& source) {
  const Tree tree = parse_json(json, source);
  const Value root(tree, Value::Scalars::kTyped, source);
  check_keys(root, {"zones", "lines"});
  CountPlaces places;
  for_each_place(root, "zones", [&](const Value&, const std::string& name, auto points) {
    places.zones.push_back({name, std::move(points)});
  });
  for_each_place(root, "lines", [&](const Value& line, const std::string& name, auto points) {
    if (points.size() != 2) {
      line.refuse("needs two points");
    }
    places.lines.push_back({name, points[0], points[1]});
  });
  if (places.zones.empty() && places.lines.empty()) {
    root.refuse("has neither zones nor lines");
  }
  return places;
}

CountPlaces read_count_places(const std::filesystem::path& file) {
  return count_places_from_json(read_input(file, kMostBytes), file.string());
}

void set_totals(const std::string& json, const std::string& source, Counter* counter) {
  const Tree tree = parse_json(json, source);
  const Value root(tree, Value::Scalars::kTyped, source);
  check_object(root);
  for_each_total(root, "zones", counter->zone_counts(), [&](std::size_t zone, const Value& totals) {
    const std::uint64_t left = total_of(totals, "left");
    const auto mean = totals.find("mean_seconds");
    const double seconds = mean ? mean->number(0, CardLimits::kAnyNumber) : 0;
    counter->set_zone_totals(zone, total_of(totals, "entered"), left,
                             seconds * static_cast<double>(left));
  });
  for_each_total(root, "lines", counter->line_counts(), [&](std::size_t line, const Value& totals) {
    counter->set_line_totals(line, total_of(totals, "forward"), total_of(totals, "backward"));
  });
}

}  // namespace npu::vision
