#pragma once

#include <cstdint>
#include <string>

namespace npu {

enum class LayerStatus { kNotRun, kOptimizedOut, kExecuted };

/// What one layer of a graph took in an inference. Times are the device's.
struct LayerProfile {
  std::string name;
  std::string type;  ///< of the layer, as the compiler calls it
  LayerStatus status = LayerStatus::kNotRun;
  std::uint64_t start_ns = 0;  ///< since the inference's beginning on the device
  std::uint64_t duration_ns = 0;
  std::uint64_t dpu_ns = 0;       ///< in the matrix units
  std::uint64_t software_ns = 0;  ///< in the vector processors
  std::uint64_t dma_ns = 0;       ///< moving data
};

}  // namespace npu
