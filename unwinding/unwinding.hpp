#pragma once

namespace npu::unwinding {

/// Whether exceptions of libraries that are loaded from now on end the process: libstdc++ raises
/// with libgcc, and libunwind, which came in between, hides libgcc from them.
bool is_mixed();

}  // namespace npu::unwinding
