// The functions of OpenSSL that say whether files are what they are named as.
#pragma once

#include <cstddef>
#include <string>

#include "shared_library.hpp"
#include "tls_files.hpp"

namespace gstnpu {

/// Those of the very copy that a client library uses; its headers are not needed.
struct OpenSsl {
  struct Context;
  struct Method;
  using AskPassPhrase = int(char* text, int size, int is_written, void* data);

  const Method* (*client_method)() = nullptr;
  Context* (*new_context)(const Method*) = nullptr;
  void (*free_context)(Context*) = nullptr;
  void (*set_ask_pass_phrase)(Context*, AskPassPhrase*) = nullptr;
  int (*load_authorities)(Context*, const char* file, const char* folder) = nullptr;
  int (*use_key)(Context*, const char* file, int type) = nullptr;
  int (*use_certificate)(Context*, const char* file) = nullptr;
  int (*check_key)(const Context*) = nullptr;
  unsigned long (*next_error)() = nullptr;
  void (*describe_error)(unsigned long error, char* text, std::size_t size) = nullptr;
  void (*clear_errors)() = nullptr;

  /// Without functions where `library` does not show those that it uses.
  static OpenSsl of(const SharedLibrary& library);

  /// Throws npu::Error, which names the property, where OpenSSL does not take a file, or the key is
  /// not the certificate's. Without functions all passes.
  void check(const std::string& protocol, const TlsFiles& files) const;

 private:
  [[noreturn]] void refuse(const std::string& property, const std::string& file) const;
  void check_pair(Context* context, const std::string& protocol, const TlsFiles& files) const;
};

}  // namespace gstnpu
