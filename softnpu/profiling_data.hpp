// What one inference's layers took.
#pragma once

#include <ze_npu/ze_npu.h>

#include <mutex>
#include <openvino/runtime/profiling_info.hpp>
#include <vector>

namespace softnpu {

// Written by the engine, read by the application.
class ProfilingData {
 public:
  void store(const std::vector<ov::ProfilingInfo>& layers);
  std::vector<ze_profiling_layer_info> layers() const;

 private:
  mutable std::mutex mutex_;  // guards layers_
  std::vector<ze_profiling_layer_info> layers_;
};

}  // namespace softnpu
