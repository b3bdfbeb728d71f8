#pragma once

#include <npucore/types.hpp>

namespace npu {

/// All of the helper process: compiles the one model that the program asks for that has started it,
/// and ends. Standard input is a socket to that program. The arguments are a device kind, "npu" or
/// "software", and the driver's version; or "library" and a compiler library, which is then served
/// for as long as the program wants. For npu-compile-helper alone.
NPU_API int serve_compilation(int argc, char** argv);

}  // namespace npu
