#pragma once

#include <functional>
#include <stdexcept>
#include <string_view>

#include <npucore/types.hpp>

namespace npu {

enum class ErrorCode {
  kInvalidArgument,  ///< the caller's value is wrong; the message names it
  kNotFound,         ///< a file, a device or an input does not exist
  kUnsupported,      ///< the device, the driver or the model's operators cannot do it
  kIncompatible,     ///< a blob made for another device, driver or runtime
  kCompileFailed,    ///< the driver's compiler refused the model: see driver_log()
  kOutOfMemory,
  kDeviceLost,  ///< the device hung, or its context is broken: see Request
  kTimeout,
  kCancelled,  ///< by the caller
  kIo,         ///< reading or writing a file
  kInternal,   ///< the driver's answer breaks its specification
};
NPU_API const char* to_string(ErrorCode code);

/// The cure: Model::reshape(), or Preprocess::input. A program that shows the error names its own
/// option or property for that.
enum class NextStep { kNone, kReshape, kNameInput };

/// The exception of every npucore call. what() says what failed, with which numbers, what to do.
class NPU_API Error : public std::runtime_error {
 public:
  Error(ErrorCode code, const std::string& message, std::string driver_log = {},
        NextStep next_step = NextStep::kNone);
  ~Error() override;
  ErrorCode code() const { return code_; }
  const std::string& driver_log() const { return driver_log_; }  ///< the driver's words, if any
  NextStep next_step() const { return next_step_; }

 private:
  ErrorCode code_;
  std::string driver_log_;
  NextStep next_step_;
};

enum class LogLevel { kError, kWarning, kInfo, kDebug };
using LogSink = std::function<void(LogLevel, std::string_view message)>;

/// Sends the library's messages to `sink`, which any thread may call, and which may itself call the
/// library; what it throws is dropped. An empty one restores the default: errors and warnings to
/// stderr. The property LOG_LEVEL changes its limit; so does the environment variable
/// NPU_LOG_LEVEL, else OV_NPU_LOG_LEVEL (none, error, warning, info, debug or trace, in any case,
/// with or without LOG_ in front).
NPU_API void set_log_sink(LogSink sink);

}  // namespace npu
