#pragma once

#include <dlfcn.h>

#include <memory>
#include <string>

namespace npu::base {

struct CloseLibrary {
  void operator()(void* handle) const { ::dlclose(handle); }
};

/// A reference to an open shared library; null where dlopen() failed, and dlerror() tells why.
using SharedLibrary = std::unique_ptr<void, CloseLibrary>;

inline SharedLibrary open_library(const std::string& name, int flags) {
  return SharedLibrary(::dlopen(name.c_str(), flags));
}

}  // namespace npu::base
