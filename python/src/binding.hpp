#pragma once

#include <nanobind/nanobind.h>

#include <string>
// In all files alike: a type's conversion must be the same everywhere.
#include <nanobind/stl/filesystem.h>
#include <nanobind/stl/map.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <npucore/error.hpp>

/// The Python package npucore. Each bind_...() adds the classes of one topic to the module `_core`.
namespace pynpu {

namespace nb = nanobind;

void bind_errors(nb::module_& module);
void bind_arrays(nb::module_& module);
void bind_device(nb::module_& module);
void bind_properties(nb::module_& module);
void bind_model(nb::module_& module);
void bind_tensor(nb::module_& module);
void bind_compiled(nb::module_& module);
void bind_blob_info(nb::module_& module);
void bind_request(nb::module_& module);
void bind_state(nb::module_& module);
void bind_vision(nb::module_& module);
void bind_track(nb::module_& module);

/// Throws the npu::Error of a caller's wrong value, which Python sees as InvalidArgumentError.
[[noreturn]] inline void refuse(const std::string& message) {
  throw npu::Error(npu::ErrorCode::kInvalidArgument, message);
}

/// Runs `work` while other Python threads run.
template <class Work>
auto without_gil(const Work& work) {
  const nb::gil_scoped_release released;
  return work();
}

/// Raises what Ctrl-C asks for in the main thread, between two slices of a long wait.
inline void check_signals() {
  if (PyErr_CheckSignals() != 0) throw nb::python_error();
}

}  // namespace pynpu
