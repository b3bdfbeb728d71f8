#pragma once

#include <npucore/types.hpp>

namespace npu {

/// The whole helper process: compiles the one model that the program that started it asks for, and
/// ends. Standard input is a socket to that program. The arguments are a device kind, "npu" or
/// "software", and the driver's version; or "library" and a compiler library, which is then served
/// as long as the program wants. For npu-compile-helper alone.
NPU_API int serve_compilation(int argc, char** argv);

}  // namespace npu
