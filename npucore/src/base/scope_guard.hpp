#pragma once

#include <utility>

namespace npu::base {

/// Runs `action` at the end of the scope, unless dismissed. The action must not throw.
template <class Action>
class ScopeGuard {
 public:
  explicit ScopeGuard(Action action) : action_(std::move(action)) {}
  ScopeGuard(const ScopeGuard&) = delete;
  ScopeGuard& operator=(const ScopeGuard&) = delete;
  ~ScopeGuard() {
    if (active_) action_();
  }
  void dismiss() { active_ = false; }

 private:
  Action action_;
  bool active_ = true;
};

}  // namespace npu::base
