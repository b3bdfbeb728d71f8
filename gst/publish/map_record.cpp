#include "map_record.hpp"

#include <algorithm>
#include <utility>

#include <npuvision/labels.hpp>

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

void add_records(const FoundMap& map, std::optional<std::size_t> object,
                 std::vector<MapRecord>* records) {
  if (!map.classes.empty()) {
    records->push_back({.type = "classes",
                        .columns = map.classes.width,
                        .rows = map.classes.height,
                        .area = map.area,
                        .classes = shares_of(map.classes, map.names()),
                        .range = {},
                        .object = object});
  }
  if (!map.values.empty()) {
    records->push_back({.type = map.is_anomaly ? "anomaly" : "depth",
                        .columns = map.values.width,
                        .rows = map.values.height,
                        .area = map.area,
                        .classes = {},
                        .range = range_of(map.values.values),
                        .object = object});
  }
}

}  // namespace

std::vector<MapRecord> map_records_of(const FrameAnswer& answer) {
  std::vector<MapRecord> records;
  for (const FoundMap& map : answer.maps) {
    const auto object =
        std::find_if(answer.objects.begin(), answer.objects.end(),
                     [&](const FoundObject& one) { return map.object_id == one.id(); });
    const auto index = static_cast<std::size_t>(object - answer.objects.begin());
    if (map.object_id && object == answer.objects.end()) continue;
    add_records(map, map.object_id ? std::optional(index) : std::nullopt, &records);
  }
  return records;
}

}  // namespace gstnpu
