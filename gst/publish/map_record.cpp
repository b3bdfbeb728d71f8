#include "map_record.hpp"

#include <algorithm>
#include <utility>

#include <npuvision/labels.hpp>

#include "analytics/map_meta.hpp"

namespace gstnpu {
namespace {

constexpr std::size_t kMostClasses = 256;  // that are told

std::vector<MapRecord::Share> shares_of(const npu::vision::Map<guint16>& map,
                                        const std::vector<std::string>& labels) {
  const auto largest = largest_of(counted(map.values), kMostClasses);
  std::vector<MapRecord::Share> shares;
  shares.reserve(largest.size());
  for (const auto& [id, count] : largest) {
    shares.push_back({npu::vision::label_of(labels, id), id,
                      static_cast<double>(count) / static_cast<double>(map.values.size())});
  }
  return shares;
}

bool is_of(const Region& region, gint object_id) {
  return region.meta ? region.meta->id == object_id
                     : region.analytics_id && static_cast<gint>(*region.analytics_id) == object_id;
}

std::optional<std::size_t> find_region(const std::vector<Region>& regions, gint object_id) {
  const auto found = std::find_if(regions.begin(), regions.end(),
                                  [&](const Region& one) { return is_of(one, object_id); });
  if (found == regions.end()) return std::nullopt;
  return static_cast<std::size_t>(found - regions.begin());
}

void add_records(const FrameMaps& maps, std::optional<std::size_t> region, const MapModel& model,
                 std::vector<MapRecord>* records) {
  if (!maps.classes.empty()) {
    records->push_back({.type = "classes",
                        .columns = maps.classes.width,
                        .rows = maps.classes.height,
                        .place = maps.place,
                        .classes = shares_of(maps.classes, model.labels),
                        .range = {},
                        .region = region});
  }
  if (!maps.values.empty()) {
    records->push_back({.type = maps.has_anomaly || model.finds_anomalies ? "anomaly" : "depth",
                        .columns = maps.values.width,
                        .rows = maps.values.height,
                        .place = maps.place,
                        .classes = {},
                        .range = range_of(maps.values.values),
                        .region = region});
  }
}

}  // namespace

std::vector<MapRecord> read_map_records(GstBuffer* buffer, const std::vector<Region>& regions,
                                        MapModels* models) {
  std::vector<MapRecord> records;
  for (const FrameMaps& maps : read_maps(buffer)) {
    std::optional<std::size_t> region;
    if (maps.object_id) {
      region = find_region(regions, *maps.object_id);
      if (!region) continue;
    }
    add_records(maps, region, models->of(maps.card), &records);
  }
  return records;
}

}  // namespace gstnpu
