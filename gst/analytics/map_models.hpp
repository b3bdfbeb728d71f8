// Cards of the models that made maps, and the contents of maps.
#pragma once

#include <gst/gst.h>

#include <map>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

namespace gstnpu {

/// The parts of a model's card that matter for its maps.
struct MapModel {
  std::vector<std::string> labels;  ///< by label id
  bool finds_anomalies = false;
};

/// The models that maps are of. One thread.
class MapModels {
 public:
  /// Looks the model up by its card, as an inference's meta has it; without a card nothing is
  /// known. Valid until the next call.
  const MapModel& of(const char* card);

 private:
  std::unordered_map<std::string, MapModel> known_;
};

/// How many places each class has.
std::map<guint16, std::size_t> counted(const std::vector<guint16>& values);
/// The classes that have the most places, the largest first; of equals the first.
std::vector<std::pair<guint16, std::size_t>> largest_of(
    const std::map<guint16, std::size_t>& counts, std::size_t most);

struct ValueRange {
  float least = 0, most = 0;
  double mean = 0;
};

/// Range of the finite values; nullopt where there is none.
std::optional<ValueRange> range_of(const std::vector<float>& values);

}  // namespace gstnpu
