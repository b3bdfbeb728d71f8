// What one inference's layers took. The CPU plugin measures layers and nothing below them: a layer
// that ran is one task, of software.
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
  std::vector<ze_profiling_task_info> tasks() const;

 private:
  mutable std::mutex mutex_;  // guards all below
  std::vector<ze_profiling_layer_info> layers_;
  std::vector<ze_profiling_task_info> tasks_;
};

}  // namespace softnpu
