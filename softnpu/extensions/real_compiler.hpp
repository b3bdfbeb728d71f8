// Intel's own compiler, which is asked first where SOFTNPU_COMPILER is "real": what it refuses is
// refused, with its result and its log. It makes no blob that this device could run, so what it
// takes goes on to the software NPU's compiler.
#pragma once

#include <optional>
#include <string>

#include <ze_npu/ze_npu.h>

namespace softnpu {

/// What it writes about a graph that it takes; empty where it is not asked. Throws Failure, with
/// its result and log, where it refuses.
std::string log_of_real_compiler(const ze_graph_desc_2_t& desc);

/// The layers that it lists, "<name><name>"; nothing where it is not asked. Throws likewise.
std::optional<std::string> layers_of_real_compiler(const ze_graph_desc_2_t& desc);

}  // namespace softnpu
