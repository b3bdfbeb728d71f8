// Checks --inputs_precisions and its three siblings. An IR v11 has its own types and layouts, so
// they change nothing; but like Intel's compiler, this one reads the text.
#pragma once

#include <vector>

#include "arguments.hpp"
#include "build_flags.hpp"

namespace softnpu {

/// Arguments are named by index, else by the name of a parameter or of a result's producer. Throws
/// INVALID_ARGUMENT for an unknown precision or layout, if a compiler up to 7.3 misses one of the
/// four, and if one before 8.4 finds an argument that the model does not have.
void check_io_options(const BuildFlags& flags, const std::vector<Argument>& arguments,
                      bool by_index, CompilerVersion compiler);

}  // namespace softnpu
