#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include "abi.hpp"

namespace npu_vcl {

/// A compiler library's failure, with npucore's error codes ("not found", "compile failed") and the
/// compiler's log, if there is one.
class Failure : public std::runtime_error {
 public:
  Failure(std::string code, const std::string& message, std::string log = {},
          abi::Result result = abi::kSuccess)
      : std::runtime_error(message),
        code_(std::move(code)),
        log_(std::move(log)),
        result_(result) {}
  const std::string& code() const { return code_; }
  const std::string& log() const { return log_; }
  /// The library's result; kSuccess if it was not asked.
  abi::Result result() const { return result_; }

 private:
  std::string code_, log_;
  abi::Result result_;
};

/// A loaded compiler library. Stays loaded until the process ends: compilers leave threads behind.
class Library {
 public:
  /// `path`: a file, or a name for the system's loader. Throws Failure.
  explicit Library(const std::string& path);

  /// The entry of this name. Throws Failure if it is missing and not optional.
  template <class Function>
  Function entry(const char* name, bool optional = false) const {
    return reinterpret_cast<Function>(symbol(name, optional));
  }
  const std::string& path() const { return path_; }
  abi::Version version() const { return version_; }

 private:
  void* symbol(const char* name, bool optional) const;

  std::string path_;
  void* handle_ = nullptr;
  abi::Version version_ = {};
};

/// An NPU to compile for.
struct Device {
  std::uint32_t pci_id = 0;
  std::uint16_t revision = abi::kNoRevision;
  std::uint32_t tiles = 0;
};

/// A library's compiler for one device.
class Compiler {
 public:
  /// `log_level`: 0 none, 1 errors, ... 5 trace. Throws Failure.
  Compiler(const Library& library, const Device& device, int log_level);
  Compiler(const Compiler&) = delete;
  Compiler& operator=(const Compiler&) = delete;
  ~Compiler();

  std::string id() const;
  abi::Version version() const { return properties_.version; }
  std::uint32_t newest_opset() const { return properties_.newest_opset; }

  /// The options that it knows, separated by blanks; nothing if the library cannot tell.
  std::optional<std::string> supported_options() const;
  /// Whether it takes the option, with this value or with any (null); nothing if the library cannot
  /// tell.
  std::optional<bool> takes(const std::string& option, const char* value) const;

  /// The blob of a model. Throws Failure.
  std::vector<std::uint8_t> compile(std::span<const std::uint8_t> ir, const std::string& options);
  /// The layers that the device runs, as the library lists them: "<name><name>". Throws Failure.
  std::string query(std::span<const std::uint8_t> ir, const std::string& options);
  /// The log since the last model came, or since the start.
  std::string log() const;

 private:
  std::string whole_log() const;
  void check(abi::Result result, const char* call) const;

  const Library& library_;
  abi::Compiler handle_ = nullptr;
  abi::Log log_ = nullptr;
  std::string earlier_log_;  ///< about the models before
  abi::CompilerProperties properties_ = {};
};

}  // namespace npu_vcl
