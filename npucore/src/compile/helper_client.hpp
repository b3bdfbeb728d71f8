#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include <npucore/device.hpp>

#include "compile_task.hpp"
#include "helper_link.hpp"

namespace npu::internal {

/// A compilation by a helper process with the driver.
struct HelperTask : CompileTask {
  ir::CompilerVersion version = {};
  std::optional<std::uint64_t> input_hash = {};
  bool profile_layers = false;
  bool bypass_cache = false;
};

/// The helper's result.
struct HelperResult {
  ContentView blob;
  std::uint64_t serialized_bytes = 0;
  std::uint64_t compile_ns = 0;
  bool from_driver_cache = false;
};

/// A helper process that compiles one model. It opens the device while the caller still prepares
/// the task.
class HelperClient {
 public:
  /// Throws HelperUnavailable. `cancellation` may be null.
  HelperClient(const DeviceInfo& device, Cancellation* cancellation, HelperLink::Deadline deadline,
               std::chrono::milliseconds start_limit = std::chrono::minutes(1));
  /// Throws HelperUnavailable where the helper does not open the device, Error(kCancelled),
  /// Error(kTimeout), what the compiler said, or Error(kCompileFailed) where the process ended.
  /// Calls `on_compiling` when the compiler begins.
  HelperResult compile(const HelperTask& task, const std::function<void()>& on_compiling);

 private:
  Error refusal(const Message& refused, const HelperTask& task);

  HelperLink link_;
  bool sent_ = false;  ///< the task
};

}  // namespace npu::internal
