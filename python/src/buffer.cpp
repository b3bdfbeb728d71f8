#include "buffer.hpp"

namespace pynpu {
namespace {

int release(void* view) {
  PyBuffer_Release(static_cast<Py_buffer*>(view));
  delete static_cast<Py_buffer*>(view);
  return 0;
}

}  // namespace

Buffer::Buffer(nb::handle object) : view_(std::make_unique<Py_buffer>()) {
  if (PyObject_GetBuffer(object.ptr(), view_.get(), PyBUF_SIMPLE) != 0) throw nb::python_error();
}

Buffer::~Buffer() {
  Py_buffer* const view = view_.release();
  if (!nb::is_alive()) return;  // the object went with the interpreter
  // Python ends a thread that waits for its lock while the interpreter ends, in the middle of this
  // destructor. So a thread that is none of Python's leaves the release to the main thread.
  const bool is_pythons = PyGILState_GetThisThreadState() != nullptr;
  if (!is_pythons && Py_AddPendingCall(&release, view) == 0) return;
  const nb::gil_scoped_acquire held;
  release(view);
}

}  // namespace pynpu
