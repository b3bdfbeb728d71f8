// The contents of maps.
#pragma once

#include <gst/gst.h>

#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "meta/npumeta.h"

namespace gstnpu {

/// How many places each class has.
GST_NPU_META_API std::map<guint16, std::size_t> counted(const std::vector<guint16>& values);
/// The classes that have the most places, the largest first; of equals the first.
GST_NPU_META_API std::vector<std::pair<guint16, std::size_t>> largest_of(
    const std::map<guint16, std::size_t>& counts, std::size_t most);

struct ValueRange {
  float least = 0, most = 0;
  double mean = 0;
};

/// Range of the finite values; nullopt where there is none.
GST_NPU_META_API std::optional<ValueRange> range_of(const std::vector<float>& values);

}  // namespace gstnpu
