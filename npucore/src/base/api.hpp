#pragma once

#include <memory>
#include <utility>

#include <npucore/error.hpp>

namespace npu::base {

/// Call in a catch (...): rethrows the exception, as an Error if the standard library ran out of
/// memory, threads or files. Exceptions of the application's callbacks pass unchanged.
[[noreturn]] void rethrow_as_error();

/// An Error that needs no memory to be thrown.
std::exception_ptr out_of_memory() noexcept;

/// Runs the work of a public call. From the library's own code only Errors come out.
template <class Work>
decltype(auto) only_errors(Work&& work) {
  try {
    return std::forward<Work>(work)();
  } catch (...) {
    rethrow_as_error();
  }
}

[[noreturn]] void refuse_moved_from(const char* what);

/// The pointer inside a public object; throws Error(kInvalidArgument) if the object was moved from.
template <class Pointer>
auto& live(const Pointer& impl, const char* what) {
  if (!impl) [[unlikely]] {
    refuse_moved_from(what);
  }
  return *impl;
}

/// Runs the work of a public call on the pointer that its object holds.
template <class Pointer, class Work>
decltype(auto) call(const Pointer& impl, const char* what, const Work& work) {
  return only_errors([&]() -> decltype(auto) { return work(live(impl, what)); });
}

}  // namespace npu::base
