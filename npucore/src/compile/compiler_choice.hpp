#pragma once

#include <map>
#include <memory>
#include <string>

#include "cache/cache_key.hpp"
#include "device/device_impl.hpp"
#include "properties/compiler_options.hpp"

#include "cancellation.hpp"
#include "library_client.hpp"

namespace npu::internal {

/// False if the driver comes without a compiler.
bool has_compiler(const DeviceInfo& device);

/// The compiler that NPU_COMPILER_TYPE asks for, the driver's or Intel's library, and its options.
class CompilerChoice {
 public:
  /// `config` goes to the compiler unchecked, and wins over the properties. `cancellation` may be
  /// null. `device` must outlive this. Throws Error(kUnsupported) if there is no compiler, and what
  /// LibraryClient and compiler_config() throw.
  CompilerChoice(const Device::Impl& device, Properties properties,
                 std::map<std::string, std::string> config, Cancellation* cancellation);

  const Compiler& compiler() const { return compiler_; }
  /// The compiler's options.
  const CompilerConfig& config() const { return config_; }
  LibraryClient* library() const { return library_.get(); }  ///< null: the driver compiles
  /// Takes the driver's compiler instead of the library.
  void take_driver();
  CompiledBy compiled_by() const;

 private:
  void take_options();

  const Device::Impl& device_;
  const Properties properties_;
  const std::map<std::string, std::string> unchecked_;
  std::unique_ptr<LibraryClient> library_;
  Compiler compiler_;
  CompilerConfig config_;
};

}  // namespace npu::internal
