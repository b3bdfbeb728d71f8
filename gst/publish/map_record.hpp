// Maps in npupublish's lines.
#pragma once

#include <gst/gst.h>

#include <optional>
#include <string>
#include <vector>

#include "answers/frame_answer.hpp"
#include "answers/map_contents.hpp"

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
  FrameArea area{};                   ///< that it covers, frame pixels
  std::vector<Share> classes;         ///< of "classes", the largest first
  std::optional<ValueRange> range;    ///< of the others; none where no value is finite
  std::optional<std::size_t> object;  ///< the number of the object that it is of
};

/// The answer's maps; takes time.
std::vector<MapRecord> map_records_of(const FrameAnswer& answer);

}  // namespace gstnpu
