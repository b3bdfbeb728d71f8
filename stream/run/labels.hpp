// Names of objects in the file that no object can have.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "config/config.hpp"

namespace npustream {

/// Id of a stream, and a sentence: for each label of `labels` and `record.on` that the stream's
/// model does not have, and for a `record.on` with events alone where there are no places. A model
/// whose labels are not known before it plays has all.
std::vector<std::pair<std::string, std::string>> label_warnings(const Config& config);

}  // namespace npustream
