// Checks a document against the table of keys.
#pragma once

#include <vector>

#include "problem.hpp"
#include "yaml.hpp"

namespace npustream {

/// Brings values into the types that the table names (a text with commas becomes a list) and
/// returns all problems. `marks`: where values are in the file.
std::vector<Problem> check(Json* document, const Marks& marks);

}  // namespace npustream
