#include "compiler_choice.hpp"

#include <utility>

#include <npucore/error.hpp>

#include "base/log.hpp"
#include "base/text.hpp"
#include "ze/device_queries.hpp"

namespace npu::internal {
namespace {

using base::text;

ir::CompilerVersion compiler_version(const DeviceInfo& device) {
  if (!has_compiler(device)) {
    throw Error(ErrorCode::kUnsupported,
                text("the driver of ", device.name,
                     " has no compiler: install it, or import a blob made elsewhere"));
  }
  return {static_cast<std::uint16_t>(device.compiler.major),
          static_cast<std::uint16_t>(device.compiler.minor), device.newest_opset};
}

Compiler compiler_of(const Device::Impl& device) {
  return {compiler_version(device.info),
          [ze = device.context()](const char* option, const char* value) {
            return ze::compiler_takes(*ze, option, value);
          }};
}

/// The library's client if the compiler type asks for one, else null.
std::unique_ptr<LibraryClient> open_library(const DeviceInfo& device, const Properties& properties,
                                            Cancellation* cancellation) {
  const std::string type = properties.get(property::compiler_type);
  if (type == "DRIVER") return nullptr;
  try {
    return std::make_unique<LibraryClient>(
        LibraryClient::Options{compiler_library(properties), compile_deadline(properties)},
        LibraryTarget{device.pci_device_id, device.tiles}, cancellation);
  } catch (const Error& error) {
    const bool none =
        error.code() == ErrorCode::kNotFound || error.code() == ErrorCode::kIncompatible;
    if (!none || type == "PLUGIN") throw;
    base::log(LogLevel::kInfo, text("the driver's compiler is used: ", error.what()));
    return nullptr;
  }
}

}  // namespace

bool has_compiler(const DeviceInfo& device) {
  return device.compiler.major != 0 || device.compiler.minor != 0;
}

CompilerChoice::CompilerChoice(const Device::Impl& device, Properties properties,
                               std::map<std::string, std::string> config,
                               Cancellation* cancellation)
    : device_(device),
      properties_(std::move(properties)),
      unchecked_(std::move(config)),
      library_(open_library(device.info, properties_, cancellation)) {
  take_options();
}

void CompilerChoice::take_driver() {
  library_.reset();
  take_options();
}

void CompilerChoice::take_options() {
  compiler_ = library_ ? compiler_of(*library_) : compiler_of(device_);
  config_ = compiler_config(compiler_, device_.info, properties_);
  // Such a driver adds the option itself, for the build flag.
  const bool driver_adds = !library_ && device_.context()->graph.asks_for_layer_times();
  if (driver_adds || !wants_layer_times(properties_)) {
    config_.erase(property::profiling.name);
  }
  for (const auto& [name, value] : unchecked_) config_[name] = value;
}

CompiledBy CompilerChoice::compiled_by() const {
  return {device_.info, wants_layer_times(properties_), ze::extra_build_flags(),
          library_ ? library_->facts().id : ""};
}

}  // namespace npu::internal
