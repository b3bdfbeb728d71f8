#include "api.hpp"

#include <exception>
#include <filesystem>
#include <new>
#include <stdexcept>
#include <system_error>

#include "text.hpp"

namespace npu::base {
namespace {

ErrorCode code_of(const std::error_code& error) {
  const auto condition = error.default_error_condition();
  if (condition == std::errc::no_such_file_or_directory) return ErrorCode::kNotFound;
  if (condition == std::errc::not_enough_memory ||
      condition == std::errc::resource_unavailable_try_again) {
    return ErrorCode::kOutOfMemory;
  }
  return ErrorCode::kIo;
}

[[noreturn]] void fail_for_system(const std::system_error& error) {
  if (code_of(error.code()) == ErrorCode::kOutOfMemory) {
    throw Error(ErrorCode::kOutOfMemory,
                text("the system has no thread or memory left (", error.what(),
                     "): raise the limits of the process (ulimit -a), or use less at a time"));
  }
  throw Error(code_of(error.code()),
              text("a file or folder cannot be used: ", error.what(), ": check its permissions"));
}

// Made while there is memory; never destroyed, as threads may outlive the statics.
const std::exception_ptr& made_error() {
  static const auto* const made = new std::exception_ptr(std::make_exception_ptr(
      Error(ErrorCode::kOutOfMemory,
            "the process has no memory left (std::bad_alloc): close models, requests and tensors, "
            "or raise its limit (ulimit -v, the container's)")));
  return *made;
}
[[maybe_unused]] const auto& kMadeWhenLoaded = made_error();

}  // namespace

std::exception_ptr out_of_memory() noexcept {
  return made_error();
}

void rethrow_as_error() {
  try {
    try {
      throw;
    } catch (const Error&) {
      throw;
    } catch (const std::length_error& error) {
      throw Error(ErrorCode::kOutOfMemory,
                  text("something is larger than memory can be (", error.what(),
                       "): check the sizes in the model and in the call"));
    } catch (const std::system_error& error) {
      fail_for_system(error);
    }
  } catch (const std::bad_alloc&) {
    std::rethrow_exception(made_error());
  }
}

void refuse_moved_from(const char* what) {
  throw Error(ErrorCode::kInvalidArgument,
              text("this ", what, " is empty: it was moved to another, which has its contents"));
}

}  // namespace npu::base
