#include <npucore/error.hpp>

namespace npu {

const char* to_string(ErrorCode code) {
  switch (code) {
    case ErrorCode::kInvalidArgument:
      return "invalid argument";
    case ErrorCode::kNotFound:
      return "not found";
    case ErrorCode::kUnsupported:
      return "unsupported";
    case ErrorCode::kIncompatible:
      return "incompatible";
    case ErrorCode::kCompileFailed:
      return "compile failed";
    case ErrorCode::kOutOfMemory:
      return "out of memory";
    case ErrorCode::kDeviceLost:
      return "device lost";
    case ErrorCode::kTimeout:
      return "timeout";
    case ErrorCode::kCancelled:
      return "cancelled";
    case ErrorCode::kIo:
      return "i/o error";
    case ErrorCode::kInternal:
      return "internal error";
  }
  return "unknown error";
}

Error::Error(ErrorCode code, const std::string& message, std::string driver_log, NextStep next_step)
    : std::runtime_error(message),
      code_(code),
      driver_log_(std::move(driver_log)),
      next_step_(next_step) {}

Error::~Error() = default;

}  // namespace npu
