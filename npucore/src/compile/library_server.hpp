#pragma once

#include <string>

#include "helper_line.hpp"

namespace npu::internal {

/// Serves a compiler library over the line until the other side is gone. `library`: a file; empty:
/// the first of Intel's names that the system's loader finds.
[[noreturn]] void serve_library(HelperLine& line, const std::string& library);

}  // namespace npu::internal
