#pragma once

#include <level_zero/ze_api.h>

#include <string>

#include <npucore/error.hpp>

namespace npu::ze {

/// "ZE_RESULT_ERROR_DEVICE_LOST (0x70000001)".
std::string describe(ze_result_t result);

/// npucore's code for this result, unless the caller knows a better one.
ErrorCode error_code(ze_result_t result);

/// "<call> failed with <result>: <advice>".
Error make_error(ErrorCode code, ze_result_t result, const char* call, const std::string& advice,
                 std::string driver_log = {});

[[noreturn]] void fail(ze_result_t result, const char* call, const char* advice);

inline void check(ze_result_t result, const char* call, const char* advice = "") {
  if (result != ZE_RESULT_SUCCESS) [[unlikely]] {
    fail(result, call, advice);
  }
}

}  // namespace npu::ze
