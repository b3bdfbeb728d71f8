#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include <npuvision/counter.hpp>

namespace npu::vision {

/// Where a Counter counts.
struct CountPlaces {
  std::vector<Zone> zones;
  std::vector<CountLine> lines;
};

/// Reads `{"zones": [{"name": "door", "points": [[x, y], ...]}], "lines": [...]}`; a line has two
/// points. At most 256 zones of 1024 corners, and 256 lines. `source` is its name in errors. Throws
/// Error.
NPU_API CountPlaces count_places_from_json(const std::string& json, const std::string& source);
/// Reads the same from a file of at most 1 MiB.
NPU_API CountPlaces read_count_places(const std::filesystem::path& file);

/// Lets a counter go on from earlier totals: `{"zones": [{"name": "door", "entered": 3, "left": 1,
/// "mean_seconds": 2.5}], "lines": [{"name": "gate", "forward": 3, "backward": 0}]}`, as lines of
/// npupublish have it. Places that the counter does not have, and other keys, are ignored. Throws
/// Error.
NPU_API void set_totals(const std::string& json, const std::string& source, Counter* counter);

}  // namespace npu::vision
