// Zones and lines as users write them.
#pragma once

#include <string>
#include <vector>

#include <npuvision/counter.hpp>

namespace gstnpu {

struct CountPlaces {
  std::vector<npu::vision::Zone> zones;
  std::vector<npu::vision::CountLine> lines;
};

/// Parses JSON, as docs/elements.md has it. `source`: its name in errors. Throws npu::Error.
CountPlaces parse_count_places(const std::string& json, const std::string& source);
/// Reads the JSON from a file. Throws npu::Error.
CountPlaces read_count_places(const std::string& path);
/// Lets the counter go on from the totals of a line of npupublish. Places that it does not have,
/// and the line's other keys, are ignored. Throws npu::Error.
void set_totals(const std::string& json, const std::string& source, npu::vision::Counter* counter);

}  // namespace gstnpu
