#include "result.hpp"

#include <cstdint>
#include <ios>

#include "base/text.hpp"

namespace npu::ze {
namespace {

struct ResultRow {
  ze_result_t result;
  ErrorCode code;
  const char* name;
};

#define NPU_RESULT(name, code)                            \
  ResultRow {                                             \
    ZE_RESULT_##name, ErrorCode::code, "ZE_RESULT_" #name \
  }

constexpr ResultRow kResults[] = {
    NPU_RESULT(SUCCESS, kInternal),
    NPU_RESULT(NOT_READY, kTimeout),
    NPU_RESULT(ERROR_DEVICE_LOST, kDeviceLost),
    NPU_RESULT(ERROR_OUT_OF_HOST_MEMORY, kOutOfMemory),
    NPU_RESULT(ERROR_OUT_OF_DEVICE_MEMORY, kOutOfMemory),
    NPU_RESULT(ERROR_MODULE_BUILD_FAILURE, kCompileFailed),
    NPU_RESULT(ERROR_MODULE_LINK_FAILURE, kCompileFailed),
    NPU_RESULT(ERROR_DEVICE_REQUIRES_RESET, kDeviceLost),
    NPU_RESULT(ERROR_DEVICE_IN_LOW_POWER_STATE, kUnsupported),
    NPU_RESULT(ERROR_INSUFFICIENT_PERMISSIONS, kNotFound),
    NPU_RESULT(ERROR_NOT_AVAILABLE, kUnsupported),
    NPU_RESULT(ERROR_DEPENDENCY_UNAVAILABLE, kNotFound),
    NPU_RESULT(ERROR_UNINITIALIZED, kInternal),
    NPU_RESULT(ERROR_UNSUPPORTED_VERSION, kIncompatible),
    NPU_RESULT(ERROR_UNSUPPORTED_FEATURE, kUnsupported),
    NPU_RESULT(ERROR_INVALID_ARGUMENT, kInvalidArgument),
    NPU_RESULT(ERROR_INVALID_NULL_HANDLE, kInternal),
    NPU_RESULT(ERROR_HANDLE_OBJECT_IN_USE, kInternal),
    NPU_RESULT(ERROR_INVALID_NULL_POINTER, kInternal),
    NPU_RESULT(ERROR_INVALID_SIZE, kInvalidArgument),
    NPU_RESULT(ERROR_UNSUPPORTED_SIZE, kUnsupported),
    NPU_RESULT(ERROR_UNSUPPORTED_ALIGNMENT, kUnsupported),
    NPU_RESULT(ERROR_INVALID_SYNCHRONIZATION_OBJECT, kInternal),
    NPU_RESULT(ERROR_INVALID_ENUMERATION, kInternal),
    NPU_RESULT(ERROR_UNSUPPORTED_ENUMERATION, kUnsupported),
    NPU_RESULT(ERROR_INVALID_NATIVE_BINARY, kIncompatible),
    NPU_RESULT(ERROR_UNKNOWN, kInternal),
};

#undef NPU_RESULT

const ResultRow* row_of(ze_result_t result) {
  for (const auto& row : kResults) {
    if (row.result == result) return &row;
  }
  return nullptr;
}

}  // namespace

std::string describe(ze_result_t result) {
  const ResultRow* row = row_of(result);
  return base::text(row ? row->name : "an unlisted result", " (0x", std::hex,
                    static_cast<std::uint32_t>(result), ')');
}

ErrorCode error_code(ze_result_t result) {
  const ResultRow* row = row_of(result);
  return row ? row->code : ErrorCode::kInternal;
}

Error make_error(ErrorCode code, ze_result_t result, const char* call, const std::string& advice,
                 std::string driver_log) {
  std::string message = base::text(call, " failed with ", describe(result));
  if (!advice.empty()) {
    message += ": " + advice;
  }
  if (!driver_log.empty()) {
    message += base::text(" [driver: ", driver_log, ']');
  }
  return Error(code, message, std::move(driver_log));
}

void fail(ze_result_t result, const char* call, const char* advice) {
  throw make_error(error_code(result), result, call, advice);
}

}  // namespace npu::ze
