#include "tensor.hpp"

#include "device.hpp"

namespace pynpu {
namespace {

using namespace nb::literals;

npu::MemoryUse use_from(const std::string& use) {
  if (use == "input") return npu::MemoryUse::kInput;
  if (use == "output") return npu::MemoryUse::kOutput;
  refuse("a tensor is used as 'input' or 'output', not as '" + use + "'");
}

/// A tensor of that type and shape; `make` gets its size in bytes.
template <class Make>
Tensor tensor_of(nb::handle shape, nb::handle dtype, const Make& make) {
  Tensor tensor{{}, type_from(dtype), shape_from(shape)};
  const std::size_t bytes = size_bytes_of(tensor.type, tensor.shape);
  if (bytes == 0) {
    refuse("a tensor of the shape " + npu::to_string(tensor.shape) + " has no bytes");
  }
  tensor.memory = without_gil([&] { return make(bytes); });
  return tensor;
}

Tensor allocate(nb::handle shape, nb::handle dtype, nb::handle device, const std::string& use,
                bool shareable) {
  const npu::Device on = device_from(device);
  const auto memory_use = use_from(use);
  return tensor_of(shape, dtype, [&](std::size_t bytes) {
    return shareable ? npu::Tensor::allocate_shareable(on, bytes, memory_use)
                     : npu::Tensor::allocate(on, bytes, memory_use);
  });
}

Tensor from_dmabuf(int fd, nb::handle shape, nb::handle dtype, std::size_t offset,
                   nb::handle device) {
  const npu::Device on = device_from(device);
  return tensor_of(shape, dtype, [&](std::size_t bytes) {
    return npu::Tensor::import_dmabuf(on, fd, offset, bytes);
  });
}

Tensor from_file(const std::filesystem::path& path, nb::handle shape, nb::handle dtype,
                 std::size_t offset, nb::handle device) {
  const npu::Device on = device_from(device);
  return tensor_of(shape, dtype, [&](std::size_t bytes) {
    return npu::Tensor::from_file(on, path, offset, bytes);
  });
}

nb::object numpy_of(const Tensor& tensor) {
  return to_numpy(tensor.memory, tensor.type, array_shape(tensor.type, tensor.shape));
}

nb::object exporter_of(const Tensor& tensor) {
  return to_exporter(tensor.memory, tensor.type, array_shape(tensor.type, tensor.shape));
}

/// numpy.asarray(tensor, dtype, copy=...)
nb::object tensor_as_array(const Tensor& tensor, nb::object dtype, nb::object copy) {
  const nb::object array = numpy_of(tensor);
  const bool converts = !dtype.is_none() && !dtype.equal(array.attr("dtype"));
  if (converts && copy.is(nb::handle(Py_False))) {
    throw nb::value_error("another dtype needs a copy");
  }
  if (converts) return array.attr("astype")(dtype);
  return copy.is(nb::handle(Py_True)) ? array.attr("copy")() : array;
}

/// Brackets the CPU's reading or writing.
class Access {
 public:
  Access(Tensor tensor, npu::CpuAccess::Kind kind) : tensor_(std::move(tensor)), kind_(kind) {}
  nb::object enter() {
    if (access_) {
      refuse("this access has begun already");
    }
    access_ = without_gil([&] { return std::make_unique<npu::CpuAccess>(tensor_.memory, kind_); });
    return numpy_of(tensor_);
  }
  void leave() {
    auto access = std::move(access_);  // another thread may be here, too
    without_gil([&] { access.reset(); });
  }

 private:
  Tensor tensor_;
  npu::CpuAccess::Kind kind_;
  std::unique_ptr<npu::CpuAccess> access_;
};

void bind_access(nb::module_& module) {
  nb::class_<Access>(module, "CpuAccess", "with tensor.cpu_access() as array: ...")
      .def("__enter__", &Access::enter)
      .def("__exit__", [](Access& access, const nb::args& /*unused*/) { access.leave(); });
}

}  // namespace

void bind_tensor(nb::module_& module) {
  bind_access(module);
  nb::class_<Tensor>(
      module, "Tensor",
      "Memory that the NPU reads and writes in place, with an element type and a "
      "shape. numpy.asarray(tensor), numpy.from_dlpack(tensor) and other libraries' "
      "from_dlpack() show it without a copy; the memory lives as long as one of them.")
      .def_static("allocate", &allocate, "shape"_a, "dtype"_a, nb::kw_only(),
                  "device"_a = nb::none(), "use"_a = "input", "shareable"_a = false,
                  "New memory. use: 'input' (the CPU writes it, and reads it slowly) or 'output'. "
                  "shareable: a DMA-BUF where one can be had: export_dmabuf().")
      .def_static("from_dmabuf", &from_dmabuf, "fd"_a, "shape"_a, "dtype"_a, nb::kw_only(),
                  "offset"_a = 0, "device"_a = nb::none(),
                  "The buffer behind a DMA-BUF's file descriptor, which stays the caller's, from "
                  "`offset` bytes on.")
      .def_static("from_file", &from_file, "path"_a, "shape"_a, "dtype"_a, nb::kw_only(),
                  "offset"_a = 0, "device"_a = nb::none(),
                  "A file's bytes from `offset` on, read-only; mapped if the driver can.")
      .def_prop_ro("shape", [](const Tensor& tensor) { return tuple_of(tensor.shape); })
      .def_prop_ro(
          "dtype", [](const Tensor& tensor) { return dtype_name(tensor.type); },
          "NumPy's name: 'float32', 'bfloat16', ...")
      .def_prop_ro("size_bytes", [](const Tensor& tensor) { return tensor.memory.size_bytes(); })
      .def_prop_ro("is_read_only",
                   [](const Tensor& tensor) { return tensor.memory.is_read_only(); })
      .def_prop_ro(
          "is_imported", [](const Tensor& tensor) { return tensor.memory.is_imported(); },
          "Whether it lies in a DMA-BUF that the driver did not make.")
      .def_prop_ro(
          "dmabuf_source",
          [](const Tensor& tensor) { return npu::to_string(tensor.memory.dmabuf_source()); })
      .def(
          "export_dmabuf", [](const Tensor& tensor) { return tensor.memory.export_dmabuf(); },
          "A new file descriptor of its DMA-BUF, which the caller closes with os.close().")
      .def("numpy", &numpy_of,
           "A NumPy array on this memory. bfloat16 and 8-bit floats need the package ml_dtypes; "
           "without it the array has unsigned integers of the same width.")
      .def(
          "cpu_access",
          [](const Tensor& tensor, bool write) {
            return Access(tensor,
                          write ? npu::CpuAccess::Kind::kReadWrite : npu::CpuAccess::Kind::kRead);
          },
          nb::kw_only(), "write"_a = false,
          "A context in which the CPU sees what other devices wrote to a DMA-BUF, and they see "
          "what it writes: `with tensor.cpu_access() as array:`")
      .def("__array__", &tensor_as_array, "dtype"_a = nb::none(), nb::kw_only(),
           "copy"_a = nb::none())
      .def("__dlpack__",
           [](const Tensor& tensor, const nb::kwargs& options) {
             return exporter_of(tensor).attr("__dlpack__")(**options);
           })
      .def("__dlpack_device__", [](const Tensor& /*unused*/) { return nb::make_tuple(1, 0); })
      .def("__repr__", [](const Tensor& tensor) {
        return std::string("<npucore.Tensor ") + dtype_name(tensor.type) + " " +
               npu::to_string(tensor.shape) + ">";
      });
}

}  // namespace pynpu
