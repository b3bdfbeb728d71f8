#pragma once

#include <utility>

#include "api.hpp"

/// Hides a class inside one of the API's: its members are no symbols of the library.
#define NPU_LOCAL __attribute__((visibility("hidden")))

namespace npu::internal {

/// The library's access to the private parts of its public classes, each of which has this friend.
struct Pimpl {
  template <class Public>
  static const auto& of(const Public& object) {
    return object.impl_;
  }
  /// As of(); throws for an object that was moved from.
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
