// Intel's own compiler, asked first if SOFTNPU_COMPILER is "real". A model that it refuses is
// refused, with its result and its log. It makes no blob that this device could run, so a model
// that it takes goes on to the software NPU's compiler.
#pragma once

#include <optional>
#include <string>

#include <ze_npu/ze_npu.h>

namespace softnpu {

/// Its log about a graph that it takes; empty if it is not asked. Throws Failure, with its result
/// and log, if it refuses.
std::string log_of_real_compiler(const ze_graph_desc_2_t& desc);

/// The layers that it lists, "<name><name>"; nothing if it is not asked. Throws likewise.
std::optional<std::string> layers_of_real_compiler(const ze_graph_desc_2_t& desc);

}  // namespace softnpu
