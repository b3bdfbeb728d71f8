#pragma once

#include <mutex>

#include <npucore/properties.hpp>

#include "base/forked.hpp"

namespace npu::internal {

/// A set of properties that threads share. Refuses a forked child: a thread of the parent may have
/// it locked.
class SharedProperties {
 public:
  Properties values() const {
    base::refuse_after_fork();
    std::scoped_lock lock(mutex_);
    return values_;
  }
  /// Sets the values in `changes`.
  void set(const Properties& changes) {
    base::refuse_after_fork();
    std::scoped_lock lock(mutex_);
    values_ = changes.over(values_);
  }

 private:
  mutable std::mutex mutex_;  // guards values_
  Properties values_;
};

}  // namespace npu::internal
