#pragma once

#include <cstdint>

namespace npu::ir {

/// The version of the driver's compiler, as its graph properties tell it.
struct CompilerVersion {
  std::uint16_t major = 0, minor = 0;
  /// maxOVOpsetVersionSupported; 0 where the driver does not tell. Below 11 Interpolate-11 is
  /// written as Interpolate-4.
  std::uint32_t newest_opset = 0;
};

}  // namespace npu::ir
