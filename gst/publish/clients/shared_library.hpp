#pragma once

#include <string>

namespace gstnpu {

/// A library that is opened when it is first needed, and stays: the plugin loads without it.
class SharedLibrary {
 public:
  /// Throws npu::Error, which names the Debian package to install.
  SharedLibrary(const std::string& file, const std::string& package);

  template <class Function>
  void find(const char* name, Function*& function) const {
    function = reinterpret_cast<Function*>(symbol(name));
  }
  /// False where neither it nor a library that it needs has the function.
  template <class Function>
  bool find_if_there(const char* name, Function*& function) const {
    function = reinterpret_cast<Function*>(symbol_if_there(name));
    return function != nullptr;
  }

 private:
  void* symbol(const char* name) const;
  void* symbol_if_there(const char* name) const;

  const std::string file_;
  void* const handle_;
};

}  // namespace gstnpu
