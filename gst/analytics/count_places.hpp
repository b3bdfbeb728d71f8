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

/// From JSON, as docs/elements.md has it. `source`: what errors call it. Throws npu::Error.
CountPlaces parse_count_places(const std::string& json, const std::string& source);
/// The same of a file. Throws npu::Error.
CountPlaces read_count_places(const std::string& path);

}  // namespace gstnpu
