#pragma once

#include <utility>

#include "api.hpp"

/// For a class inside one of the API's: its members are not the library's symbols.
#define NPU_LOCAL __attribute__((visibility("hidden")))

namespace npu::internal {

/// The library's own way to what its public classes keep private: each has this one friend.
struct Pimpl {
  template <class Public>
  static const auto& of(const Public& object) {
    return object.impl_;
  }
  /// The same of an object that was not moved from.
  template <class Public>
  static const auto& live(const Public& object, const char* what) {
    base::live(object.impl_, what);
    return object.impl_;
  }
  template <class Public, class... Parts>
  static Public make(Parts&&... parts) {
    return Public(std::forward<Parts>(parts)...);
  }
};

}  // namespace npu::internal
