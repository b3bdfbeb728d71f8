// --inputs_precisions and its three siblings. Types and layouts of an IR v11 are the model's own,
// so that nothing here changes them; but as Intel's compiler does, the text is read.
#pragma once

#include <vector>

#include "arguments.hpp"
#include "build_flags.hpp"

namespace softnpu {

/// Arguments are named by index, else by the name of a parameter or of a result's producer. Throws
/// INVALID_ARGUMENT for a precision or layout that nobody has, where a compiler up to 7.3 misses
/// one of the four, and where one before 8.4 finds an argument that the model does not have.
void check_io_options(const BuildFlags& flags, const std::vector<Argument>& arguments,
                      bool by_index, CompilerVersion compiler);

}  // namespace softnpu
