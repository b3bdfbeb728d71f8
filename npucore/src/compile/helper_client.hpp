#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>

#include <npucore/device.hpp>

#include "ir/serialize.hpp"

#include "cancellation.hpp"
#include "helper_message.hpp"
#include "helper_process.hpp"

namespace npu::internal {

/// What a helper process is to compile.
struct HelperTask {
  std::string title;  ///< for messages: "model 'x' (x.xml)"
  ir::PreparedText model;
  ir::CompilerVersion version;
  bool weightless = false;
  std::uint64_t threshold_bytes = 0;  ///< weightless: smaller constants are copied
  std::optional<std::uint64_t> input_hash;
  std::string build_flags;
  bool profile_layers = false;
  bool bypass_cache = false;
  std::uint64_t memory_limit_bytes = 0;  ///< 0: none
};

/// What it made of it.
struct HelperResult {
  ContentView blob;
  std::uint64_t serialized_bytes = 0;
  std::uint64_t compile_ns = 0;
  bool from_driver_cache = false;
};

/// Why no helper process can be had here: whoever asked for one compiles by itself.
class HelperUnavailable : public std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// A helper process that compiles one model. It opens the device while the caller still prepares
/// the task.
class HelperClient {
 public:
  using Deadline = std::optional<std::chrono::steady_clock::time_point>;

  /// Throws HelperUnavailable. `cancellation` may be null.
  HelperClient(const DeviceInfo& device, Cancellation* cancellation, Deadline deadline,
               std::chrono::milliseconds start_limit = std::chrono::minutes(1));
  /// Throws HelperUnavailable where the helper does not open the device, Error(kCancelled),
  /// Error(kTimeout), what the compiler said, or Error(kCompileFailed) where the process ended.
  /// Calls `on_compiling` when the compiler begins.
  HelperResult compile(const HelperTask& task, const std::function<void()>& on_compiling);

 private:
  void send(const Message& message);
  Message first_message(const std::string& title);
  Message next_message(const std::string& title);
  void wait_for_something(const std::string& title);
  int milliseconds_left(const std::string& title);
  void read_errors();
  void forward(const Message& message) const;
  [[noreturn]] void fail_ended(const std::string& title);
  [[noreturn]] void fail_late(const std::string& title);

  const DeviceInfo& device_;
  Cancellation* const cancellation_;
  const Deadline deadline_;
  const std::chrono::milliseconds start_limit_;
  const std::chrono::steady_clock::time_point ready_before_;
  const std::unique_ptr<HelperProcess> process_;
  const Cancellation::Ends ends_;
  MessageReader reader_;
  std::string last_words_;  ///< the end of what it printed
  bool ready_ = false;      ///< it has opened the device
  bool ended_ = false;
  bool errors_ended_ = false;  ///< nobody can print any more
};

}  // namespace npu::internal
