#pragma once

#include <memory>
#include <utility>

#include <npucore/error.hpp>

namespace npu::base {

/// Inside a catch (...): throws what was caught again, as an Error where the standard library threw
/// it for lack of memory, of threads or of a file. What the application's callbacks throw, passes.
[[noreturn]] void rethrow_as_error();

/// An Error that needs no memory to be thrown.
std::exception_ptr out_of_memory() noexcept;

/// Runs the work of a public call, which throws nothing of the library's own but Errors.
template <class Work>
decltype(auto) only_errors(Work&& work) {
  try {
    return std::forward<Work>(work)();
  } catch (...) {
    rethrow_as_error();
  }
}

[[noreturn]] void refuse_moved_from(const char* what);

/// What a public object holds; throws Error(kInvalidArgument) for one that was moved from.
template <class Pointer>
auto& live(const Pointer& impl, const char* what) {
  if (!impl) [[unlikely]] {
    refuse_moved_from(what);
  }
  return *impl;
}

/// The work of a public call on what its object holds.
template <class Pointer, class Work>
decltype(auto) call(const Pointer& impl, const char* what, const Work& work) {
  return only_errors([&]() -> decltype(auto) { return work(live(impl, what)); });
}

}  // namespace npu::base
