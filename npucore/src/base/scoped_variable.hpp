#pragma once

#include <cstdlib>
#include <string>

namespace npu::base {

/// Sets an environment variable that is not set, while the object lives: for a library that has no
/// other setting. Meanwhile getenv() in other threads is not safe, and their children inherit it.
class ScopedVariable {
 public:
  /// An empty value sets nothing.
  ScopedVariable(const char* name, const std::string& value)
      : name_(!value.empty() && !std::getenv(name) ? name : nullptr) {
    if (name_) {
      ::setenv(name_, value.c_str(), 0);
    }
  }
  ~ScopedVariable() {
    if (name_) {
      ::unsetenv(name_);
    }
  }
  ScopedVariable(const ScopedVariable&) = delete;
  ScopedVariable& operator=(const ScopedVariable&) = delete;

 private:
  const char* name_;  ///< null: nothing was set
};

}  // namespace npu::base
