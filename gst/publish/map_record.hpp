// Maps in npupublish's lines.
#pragma once

#include <gst/gst.h>

#include <optional>
#include <string>
#include <vector>

#include "analytics/answer_meta.hpp"
#include "analytics/map_models.hpp"

namespace gstnpu {

/// A map in a few words: its pixels are in the metadata alone.
struct MapRecord {
  struct Share {
    std::string label;
    guint16 label_id = 0;
    double share = 0;  ///< of the map, 0..1
  };

  std::string type;  ///< "classes", "depth" or "anomaly"
  guint columns = 0, rows = 0;
  MapPlace place;                     ///< what it covers
  std::vector<Share> classes;         ///< of "classes", the largest first
  std::optional<ValueRange> range;    ///< of the others; none where no value is finite
  std::optional<std::size_t> region;  ///< the number of the object that it is of
};

/// Reads the maps of a frame with these objects. A map of any other object is left out.
std::vector<MapRecord> read_map_records(GstBuffer* buffer, const std::vector<Region>& regions,
                                        MapModels* models);

}  // namespace gstnpu
