#include "shared_library.hpp"

#include <dlfcn.h>

#include <npucore/error.hpp>

namespace gstnpu {
namespace {

std::string last_error() {
  const char* text = ::dlerror();
  return text ? text : "unknown error";
}

void* open(const std::string& file, const std::string& package) {
  void* handle = ::dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (handle == nullptr) {
    throw npu::Error(npu::ErrorCode::kUnsupported, "cannot load " + file + " (" + last_error() +
                                                       "): install the package " + package);
  }
  return handle;
}

}  // namespace

SharedLibrary::SharedLibrary(const std::string& file, const std::string& package)
    : file_(file), handle_(open(file, package)) {}

void* SharedLibrary::symbol_if_there(const char* name) const {
  return ::dlsym(handle_, name);
}

void* SharedLibrary::symbol(const char* name) const {
  void* found = symbol_if_there(name);
  if (found == nullptr) {
    throw npu::Error(npu::ErrorCode::kUnsupported, file_ + " has no function " + name + " (" +
                                                       last_error() +
                                                       "): install a newer version of it");
  }
  return found;
}

}  // namespace gstnpu
