#pragma once

#include <mutex>

#include <npucore/properties.hpp>

namespace npu::internal {

/// A set of properties that threads share.
class SharedProperties {
 public:
  Properties values() const {
    std::scoped_lock lock(mutex_);
    return values_;
  }
  /// Those in `changes` get their new value.
  void set(const Properties& changes) {
    std::scoped_lock lock(mutex_);
    values_ = changes.over(values_);
  }

 private:
  mutable std::mutex mutex_;  // guards values_
  Properties values_;
};

}  // namespace npu::internal
