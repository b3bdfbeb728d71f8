#pragma once

#include <memory>
#include <mutex>
#include <openvino/runtime/profiling_info.hpp>
#include <vector>

#include <ze_npu/ze_npu.h>

#include "base/live_objects.hpp"

namespace softnpu {

/// The times of one inference's layers. The CPU plugin measures layers and nothing below: a layer
/// that ran is one software task. The engine writes it, the application reads it.
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

/// A pool's slots for queries.
class ProfilingPool : Counted<Kind::kProfilingPool> {
 public:
  explicit ProfilingPool(uint32_t count) : used_(count, false) {}
  uint32_t count() const { return static_cast<uint32_t>(used_.size()); }
  /// False if the slot is taken.
  bool take(uint32_t index);
  void give_back(uint32_t index);
  bool in_use();

 private:
  std::mutex mutex_;  // guards used_
  std::vector<bool> used_;
};

/// A query, and the slot of the pool that it holds until its end.
class ProfilingQuery : Counted<Kind::kProfilingQuery> {
 public:
  ProfilingQuery(ProfilingPool& pool, uint32_t index) : pool_(pool), index_(index) {}
  ~ProfilingQuery() { pool_.give_back(index_); }
  const std::shared_ptr<ProfilingData>& data() const { return data_; }

 private:
  ProfilingPool& pool_;
  uint32_t index_;
  std::shared_ptr<ProfilingData> data_ = std::make_shared<ProfilingData>();
};
}  // namespace softnpu
