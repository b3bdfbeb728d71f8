#pragma once

#include <nanobind/ndarray.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <npucore/tensor.hpp>

#include "binding.hpp"

namespace pynpu {

/// NumPy's name for the elements: "float32", "bfloat16"; "uint8" for packed ones of less than 8
/// bits.
const char* dtype_name(npu::ElementType type);
/// The inverse, which also takes numpy.dtype objects, types and OpenVINO's names.
npu::ElementType type_from(nb::handle dtype);

/// Shape of the array that shows `batch` items of a port: packed elements are a row of bytes.
npu::Shape array_shape(npu::ElementType type, const npu::Shape& shape, std::size_t batch = 1);
nb::tuple tuple_of(const npu::Shape& shape);
npu::Shape shape_from(nb::handle dimensions);
/// Bytes of a dense tensor. Throws for a dimension below 0 and for a size beyond the address space.
std::size_t size_bytes_of(npu::ElementType type, const npu::Shape& shape);

/// Something that an array keeps alive: it is told when the last array is gone. Guarded by the GIL.
class Kept {
 public:
  virtual ~Kept() = default;
};

/// A NumPy array on a tensor's memory, without a copy. The array keeps the memory, and `kept`.
nb::object to_numpy(const npu::Tensor& tensor, npu::ElementType type, const npu::Shape& shape,
                    std::shared_ptr<Kept> kept = {});
/// The same for DLPack and the buffer protocol: an object that has both.
nb::object to_exporter(const npu::Tensor& tensor, npu::ElementType type, const npu::Shape& shape);

/// An array that came in from Python: NumPy, DLPack or the buffer protocol.
struct ArrayIn {
  nb::ndarray<nb::ro, nb::device::cpu> array;  ///< keeps the memory
  std::byte* data = nullptr;
  std::size_t size_bytes = 0;  ///< of the elements
  std::vector<std::int64_t> shape, strides_bytes;
  bool is_dense = false;
};
/// Checks elements and shape. `kind` and `name` begin the message: `input "images"`. Throws
/// Error(kInvalidArgument) that names both sides. Shapes may differ in dimensions of 1.
/// `is_written`: the array must be writable and dense, too.
ArrayIn array_in(const char* kind, const std::string& name, nb::handle object,
                 npu::ElementType type, const npu::Shape& shape, bool is_written = false);
/// Copies an array's elements to dense memory, row after row.
void copy_dense(const ArrayIn& from, std::byte* to);

/// The part of a tensor that lies at this memory, if an array of npucore's shows it; else empty.
npu::Tensor tensor_at(const std::byte* data, std::size_t size_bytes);

}  // namespace pynpu
