#pragma once

#include <stdexcept>
#include <string>

#include <npucore/export.hpp>

namespace npu {

enum class ErrorCode {
  kInvalidArgument,  ///< the caller's value is wrong: the message names it
  kNotFound,         ///< a file, a device, an input does not exist
  kUnsupported,      ///< the device, the driver or the model's operators cannot do it
  kIncompatible,     ///< a blob made for another device, driver or runtime
  kCompileFailed,    ///< the driver's compiler refused the model: see driver_log()
  kOutOfMemory,
  kDeviceLost,  ///< the device hung or its context is poisoned: open everything again
  kTimeout,
  kCancelled,  ///< by the caller
  kIo,         ///< reading or writing a file
  kInternal,   ///< the driver answered what its specification does not allow
};

NPU_API const char* to_string(ErrorCode code);

/// What every call of npucore throws. what() is one sentence: what failed, with which numbers, what
/// to do next.
class NPU_API Error : public std::runtime_error {
 public:
  Error(ErrorCode code, const std::string& message, std::string driver_log = {});
  ~Error() override;

  ErrorCode code() const { return code_; }
  /// The driver's own words, empty where it had none.
  const std::string& driver_log() const { return driver_log_; }

 private:
  ErrorCode code_;
  std::string driver_log_;
};

}  // namespace npu
