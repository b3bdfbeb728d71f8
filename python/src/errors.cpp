#include <exception>

#include <npucore/error.hpp>

#include "binding.hpp"

namespace pynpu {
namespace {

const char* class_of(npu::ErrorCode code) {
  switch (code) {
    case npu::ErrorCode::kInvalidArgument:
      return "InvalidArgumentError";
    case npu::ErrorCode::kNotFound:
      return "NotFoundError";
    case npu::ErrorCode::kUnsupported:
      return "UnsupportedError";
    case npu::ErrorCode::kIncompatible:
      return "IncompatibleError";
    case npu::ErrorCode::kCompileFailed:
      return "CompileError";
    case npu::ErrorCode::kOutOfMemory:
      return "OutOfMemoryError";
    case npu::ErrorCode::kDeviceLost:
      return "DeviceLostError";
    case npu::ErrorCode::kTimeout:
      return "TimeoutError";
    case npu::ErrorCode::kCancelled:
      return "CancelledError";
    case npu::ErrorCode::kIo:
      return "IoError";
    case npu::ErrorCode::kInternal:
      break;
  }
  return "InternalError";
}

/// The text, with \xNN for bytes that are no UTF-8, as in the names of some files.
nb::object readable(const std::string& text) {
  PyObject* const decoded =
      PyUnicode_DecodeUTF8(text.data(), static_cast<Py_ssize_t>(text.size()), "backslashreplace");
  if (decoded == nullptr) throw nb::python_error();
  return nb::steal(decoded);
}

void raise(const npu::Error& error) {
  const nb::object type = nb::module_::import_("npucore._errors").attr(class_of(error.code()));
  const nb::object exception = type(readable(error.what()));
  exception.attr("driver_log") = readable(error.driver_log());
  PyErr_SetObject(type.ptr(), exception.ptr());
}

}  // namespace

void bind_errors(nb::module_& /*module*/) {
  nb::register_exception_translator([](const std::exception_ptr& thrown, void* /*unused*/) {
    try {
      std::rethrow_exception(thrown);
    } catch (const npu::Error& error) {
      try {
        raise(error);
      } catch (nb::python_error& failure) {
        failure.restore();
      }
    } catch (const nb::cast_error&) {
      if (PyErr_Occurred() == nullptr) {
        PyErr_SetString(PyExc_TypeError, "an argument, or a value in it, is of the wrong type");
      }
    }
  });
}

}  // namespace pynpu
