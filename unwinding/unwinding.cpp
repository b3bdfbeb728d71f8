// Goes on with an exception by the library that has raised it. Linked into each of the project's
// libraries, where it hides the process's own _Unwind_Resume.
//
// A process may have two: GStreamer brings libunwind, whose _Unwind_Resume hides libgcc's from
// libraries that are loaded later, while libstdc++ may be bound to libgcc already, as where a
// Python program imports numpy before gi. Neither goes on with an exception of the other.
#include "unwinding.hpp"

#include <dlfcn.h>
#include <unwind.h>

#include <cstdlib>

namespace {

using Resume = void (*)(_Unwind_Exception*);

Resume resume_of(const char* library) {
  void* handle = ::dlopen(library, RTLD_LAZY | RTLD_NOLOAD);
  return handle != nullptr ? reinterpret_cast<Resume>(::dlsym(handle, "_Unwind_Resume")) : nullptr;
}

/// libunwind notes where in the code an exception will be caught, libgcc where on the stack. The
/// forced unwinding of pthread_exit() is libgcc's.
bool is_of_libunwind(const _Unwind_Exception& exception) {
  Dl_info info;
  return exception.private_1 == 0 &&
         // NOLINTNEXTLINE(performance-no-int-to-ptr): libunwind keeps an address there
         ::dladdr(reinterpret_cast<void*>(exception.private_2), &info) != 0;
}

thread_local bool last_was_of_libunwind = false;

struct Cleanup {
  __attribute__((noinline)) ~Cleanup() { asm volatile(""); }
};

/// Raises through a frame of its own, whose cleanup makes the compiler call _Unwind_Resume.
__attribute__((noinline)) void raise() {
  const Cleanup cleanup;
  throw 0;  // NOLINT(bugprone-std-exception-baseclass): caught below
}

}  // namespace

// Its own name would be visible, as <unwind.h> declares it.
extern "C" __attribute__((visibility("hidden"))) void npu_unwind_resume(_Unwind_Exception*) __asm__(
    "_Unwind_Resume");

void npu_unwind_resume(_Unwind_Exception* exception) {
  static const Resume of_libgcc = resume_of("libgcc_s.so.1");
  static const Resume of_libunwind = resume_of("libunwind.so.8");
  // LLVM's libunwind, say, to which a program was linked: all of the process raises with it.
  static const auto of_process = reinterpret_cast<Resume>(::dlsym(RTLD_DEFAULT, "_Unwind_Resume"));
  static const bool is_another =
      of_process != nullptr && of_process != of_libgcc && of_process != of_libunwind;
  if (is_another) {
    of_process(exception);
  }
  last_was_of_libunwind = is_of_libunwind(*exception);
  const Resume resume = last_was_of_libunwind && of_libunwind ? of_libunwind : of_libgcc;
  if (resume != nullptr) {
    resume(exception);
  }
  std::abort();
}

namespace npu::unwinding {

bool is_mixed() {
  const auto global = reinterpret_cast<Resume>(::dlsym(RTLD_DEFAULT, "_Unwind_Resume"));
  if (global == nullptr || global != resume_of("libunwind.so.8")) return false;
  try {
    raise();
  } catch (int) {
    return !last_was_of_libunwind;
  }
  return false;  // not reached
}

}  // namespace npu::unwinding
