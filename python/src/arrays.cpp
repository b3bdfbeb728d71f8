#include "arrays.hpp"

#include <array>
#include <cstring>
#include <limits>
#include <map>
#include <mutex>
#include <utility>

#include <npucore/error.hpp>

namespace pynpu {
namespace {

using nb::dlpack::dtype_code;
using npu::ElementType;

struct TypeRow {
  ElementType type;
  const char* name;  ///< NumPy's and ml_dtypes'
  dtype_code code;
  std::uint8_t bits;
};
// clang-format off
constexpr std::array kTypes = {
    TypeRow{ElementType::kBoolean, "bool", dtype_code::Bool, 8},
    TypeRow{ElementType::kBF16, "bfloat16", dtype_code::Bfloat, 16},
    TypeRow{ElementType::kF16, "float16", dtype_code::Float, 16},
    TypeRow{ElementType::kF32, "float32", dtype_code::Float, 32},
    TypeRow{ElementType::kF64, "float64", dtype_code::Float, 64},
    TypeRow{ElementType::kI8, "int8", dtype_code::Int, 8},
    TypeRow{ElementType::kI16, "int16", dtype_code::Int, 16},
    TypeRow{ElementType::kI32, "int32", dtype_code::Int, 32},
    TypeRow{ElementType::kI64, "int64", dtype_code::Int, 64},
    TypeRow{ElementType::kU8, "uint8", dtype_code::UInt, 8},
    TypeRow{ElementType::kU16, "uint16", dtype_code::UInt, 16},
    TypeRow{ElementType::kU32, "uint32", dtype_code::UInt, 32},
    TypeRow{ElementType::kU64, "uint64", dtype_code::UInt, 64},
    TypeRow{ElementType::kF8E4M3, "float8_e4m3fn", dtype_code::Float8_E4M3FN, 8},
    TypeRow{ElementType::kF8E5M2, "float8_e5m2", dtype_code::Float8_E5M2, 8},
    TypeRow{ElementType::kF8E8M0, "float8_e8m0fnu", dtype_code::Float8_E8M0FNU, 8},
};
// clang-format on

/// Packed elements of less than 8 bits are bytes for Python.
const TypeRow& row_of(ElementType type) {
  for (const TypeRow& row : kTypes) {
    if (row.type == type) return row;
  }
  if (npu::bit_width(type) == 0) {
    throw npu::Error(npu::ErrorCode::kUnsupported,
                     std::string("no array has elements of the type ") + npu::to_string(type));
  }
  return row_of(ElementType::kU8);
}

bool is_packed(ElementType type) {
  return npu::bit_width(type) % 8 != 0;
}

/// bfloat16 and the 8-bit floats, which neither NumPy nor the buffer protocol knows.
bool is_extension(ElementType type) {
  const auto code = row_of(type).code;
  return code == dtype_code::Bfloat || code >= dtype_code::Float8_E3M4;
}

nb::dlpack::dtype dlpack_type(const TypeRow& row) {
  return {static_cast<std::uint8_t>(row.code), row.bits, 1};
}

/// Unsigned integers of the same width, which stand for extension types where nothing else can.
nb::dlpack::dtype bits_of(const TypeRow& row) {
  return {static_cast<std::uint8_t>(dtype_code::UInt), row.bits, 1};
}

std::string name_of(nb::dlpack::dtype type) {
  for (const TypeRow& row : kTypes) {
    if (dlpack_type(row) == type) return row.name;
  }
  return "of DLPack type " + std::to_string(type.code) + " with " + std::to_string(type.bits) +
         " bits";
}

/// Memory that arrays of npucore's show: by its first byte, the tensor and how many arrays there
/// are. An array that comes back in is then bound in place. Guarded by its mutex.
class ShownMemory {
 public:
  static ShownMemory& instance() {
    static auto* const shown = new ShownMemory;  // arrays may die after the module
    return *shown;
  }
  void add(const npu::Tensor& tensor) {
    const std::scoped_lock lock(mutex_);
    Shown& shown = shown_[{tensor.data(), tensor.size_bytes()}];
    shown.tensor = tensor;
    ++shown.arrays;
  }
  void remove(const npu::Tensor& tensor) {
    const std::scoped_lock lock(mutex_);
    const auto found = shown_.find({tensor.data(), tensor.size_bytes()});
    if (found != shown_.end() && --found->second.arrays == 0) {
      shown_.erase(found);
    }
  }
  npu::Tensor find(const std::byte* data, std::size_t size) const {
    const std::scoped_lock lock(mutex_);
    auto entry = shown_.upper_bound({data, std::numeric_limits<std::size_t>::max()});
    // Slices of one tensor may begin in front of the memory and end before it.
    for (int tries = 0; tries < kMostSlices && entry != shown_.begin(); ++tries) {
      const npu::Tensor& tensor = (--entry)->second.tensor;
      const auto offset = static_cast<std::size_t>(data - tensor.data());
      if (offset > tensor.size_bytes() || size > tensor.size_bytes() - offset) continue;
      return tensor.slice(offset, size);
    }
    return {};
  }

 private:
  static constexpr int kMostSlices = 16;
  struct Shown {
    npu::Tensor tensor;
    std::size_t arrays = 0;
  };
  mutable std::mutex mutex_;
  std::map<std::pair<const std::byte*, std::size_t>, Shown> shown_;
};

struct Owner {
  Owner(const npu::Tensor& tensor_, std::shared_ptr<Kept> kept_)
      : tensor(tensor_), kept(std::move(kept_)) {
    ShownMemory::instance().add(tensor);
  }
  ~Owner() { ShownMemory::instance().remove(tensor); }
  Owner(const Owner&) = delete;
  Owner& operator=(const Owner&) = delete;
  npu::Tensor tensor;
  std::shared_ptr<Kept> kept;
};

nb::capsule owner_of(const npu::Tensor& tensor, std::shared_ptr<Kept> kept) {
  auto owner = std::make_unique<Owner>(tensor, std::move(kept));
  nb::capsule capsule(owner.get(),
                      [](void* pointer) noexcept { delete static_cast<Owner*>(pointer); });
  (void)owner.release();
  return capsule;
}

template <class... Traits>
nb::object export_as(const npu::Tensor& tensor, nb::dlpack::dtype type,
                     const std::vector<std::size_t>& sizes, const nb::capsule& owner) {
  if (tensor.is_read_only()) {
    nb::ndarray<Traits..., nb::ro> array(tensor.data(), sizes.size(), sizes.data(), owner, nullptr,
                                         type);
    return array.cast(nb::rv_policy::reference);
  }
  nb::ndarray<Traits...> array(tensor.data(), sizes.size(), sizes.data(), owner, nullptr, type);
  return array.cast(nb::rv_policy::reference);
}

std::vector<std::size_t> sizes_of(const npu::Shape& shape) {
  return {shape.begin(), shape.end()};
}

/// ml_dtypes' type of that name, where it is installed; else null.
nb::object extension_dtype(const char* name) {
  try {
    return nb::module_::import_("ml_dtypes").attr(name);
  } catch (nb::python_error& missing) {
    if (!missing.matches(PyExc_ImportError) && !missing.matches(PyExc_AttributeError)) throw;
    return {};
  }
}

std::string text_of(nb::handle object) {
  return nb::cast<std::string>(nb::str(object));
}

std::string attribute_text(nb::handle object, const char* attribute) {
  const nb::object value = nb::getattr(object, attribute, nb::none());
  return value.is_none() ? std::string() : text_of(value);
}

/// NumPy arrays of ml_dtypes' types as unsigned integers of the same width, others as they are.
nb::object without_extension(nb::handle object, const TypeRow& row) {
  const nb::object dtype = nb::getattr(object, "dtype", nb::none());
  if (dtype.is_none() || attribute_text(dtype, "name") != row.name ||
      !nb::hasattr(object, "view") || nb::hasattr(object, "is_cuda")) {
    return nb::borrow(object);
  }
  return object.attr("view")(row.bits == 16 ? "uint16" : "uint8");
}

bool is_same_but_for_ones(const npu::Shape& wanted, const std::vector<std::int64_t>& given) {
  auto left = wanted.begin();
  auto right = given.begin();
  const auto skip_ones = [](auto& at, auto end) {
    while (at != end && *at == 1) ++at;
  };
  for (;; ++left, ++right) {
    skip_ones(left, wanted.end());
    skip_ones(right, given.end());
    if (left == wanted.end() || right == given.end()) break;
    if (*left != *right) return false;
  }
  return left == wanted.end() && right == given.end();
}

bool is_dense(const ArrayIn& array, std::size_t item_bytes) {
  auto expected = static_cast<std::int64_t>(item_bytes);
  for (std::size_t i = array.shape.size(); i-- > 0;) {
    if (array.shape[i] != 1 && array.strides_bytes[i] != expected) return false;
    expected *= array.shape[i];
  }
  return true;
}

template <class T>
bool import(nb::handle object, T& array) {
  return nb::try_cast<T>(object, array, false);
}

[[noreturn]] void refuse_object(const std::string& what, nb::handle object, bool is_written) {
  nb::ndarray<nb::ro> anywhere;
  if (!import(object, anywhere)) {
    refuse(what + " takes an array (NumPy, DLPack or the buffer protocol), not " +
           text_of(object.type().attr("__name__")));
  }
  if (is_written) {
    refuse(what + " needs an array that can be written: this one is read-only");
  }
  refuse(what +
         " needs an array in the CPU's memory: move it there, with .cpu() or numpy.asarray()");
}

ArrayIn described(nb::ndarray<nb::ro, nb::device::cpu> array) {
  ArrayIn in;
  const auto item_bytes = array.itemsize();
  in.shape.reserve(array.ndim());
  in.strides_bytes.reserve(array.ndim());
  in.data = static_cast<std::byte*>(const_cast<void*>(static_cast<const void*>(array.data())));
  in.size_bytes = array.nbytes();
  for (std::size_t i = 0; i < array.ndim(); ++i) {
    in.shape.push_back(static_cast<std::int64_t>(array.shape(i)));
    in.strides_bytes.push_back(array.stride(i) * static_cast<std::int64_t>(item_bytes));
  }
  in.is_dense = is_dense(in, item_bytes);
  in.array = std::move(array);
  return in;
}

bool takes(ElementType type, nb::dlpack::dtype given) {
  const TypeRow& row = row_of(type);
  if (given == dlpack_type(row)) return true;
  return (is_extension(type) || type == ElementType::kBoolean) && given == bits_of(row);
}

/// Copies the last dimension.
template <class Element>
void copy_columns(const std::byte* at, std::int64_t stride, std::int64_t count, std::byte* to) {
  if (stride == sizeof(Element)) {
    std::memcpy(to, at, static_cast<std::size_t>(count) * sizeof(Element));
    return;
  }
  for (std::int64_t i = 0; i < count; ++i, at += stride, to += sizeof(Element)) {
    Element element;
    std::memcpy(&element, at, sizeof(Element));
    std::memcpy(to, &element, sizeof(Element));
  }
}

/// Copies the dimensions from `dimension` on, and moves `to` behind them.
template <class Element>
void copy_rows(const ArrayIn& from, std::size_t dimension, const std::byte* at, std::byte*& to) {
  const auto count = from.shape[dimension];
  const auto stride = from.strides_bytes[dimension];
  if (dimension + 1 == from.shape.size()) {
    copy_columns<Element>(at, stride, count, to);
    to += static_cast<std::size_t>(count) * sizeof(Element);
    return;
  }
  for (std::int64_t i = 0; i < count; ++i, at += stride) {
    copy_rows<Element>(from, dimension + 1, at, to);
  }
}

}  // namespace

const char* dtype_name(ElementType type) {
  return row_of(type).name;
}

ElementType type_from(nb::handle dtype) {
  std::string name = attribute_text(dtype, "name");
  if (name.empty()) {
    name = attribute_text(dtype, "__name__");
  }
  if (name.empty()) {
    name = text_of(dtype);
  }
  for (const TypeRow& row : kTypes) {
    if (name == row.name || name == npu::to_string(row.type)) return row.type;
  }
  std::string names;
  for (const TypeRow& row : kTypes) names += std::string(names.empty() ? "" : ", ") + row.name;
  refuse("there is no element type '" + name + "': it must be one of " + names);
}

npu::Shape array_shape(ElementType type, const npu::Shape& shape, std::size_t batch) {
  npu::Shape all = shape;
  const auto items = static_cast<std::int64_t>(batch);
  if (batch > 1 && !all.empty() && all.front() == 1) {
    all.front() = items;
  } else if (batch > 1) {
    all.insert(all.begin(), items);
  }
  if (!is_packed(type)) return all;
  const auto bytes = size_bytes_of(type, shape) * batch;
  return {static_cast<std::int64_t>(bytes)};
}

nb::tuple tuple_of(const npu::Shape& shape) {
  nb::list dimensions;
  for (const auto size : shape) {
    if (size < 0) {
      dimensions.append(nb::none());
    } else {
      dimensions.append(size);
    }
  }
  return nb::tuple(dimensions);
}

npu::Shape shape_from(nb::handle dimensions) {
  npu::Shape shape;
  if (nb::isinstance<nb::int_>(dimensions)) return {nb::cast<std::int64_t>(dimensions)};
  for (nb::handle size : nb::iter(dimensions)) shape.push_back(nb::cast<std::int64_t>(size));
  return shape;
}

std::size_t size_bytes_of(ElementType type, const npu::Shape& shape) {
  std::size_t elements = 1;
  for (const auto size : shape) {
    if (size < 0) {
      refuse("the shape " + npu::to_string(shape) + " has a dimension below 0");
    }
    if (__builtin_mul_overflow(elements, static_cast<std::size_t>(size), &elements)) {
      refuse("a tensor of the shape " + npu::to_string(shape) + " fits into no memory");
    }
  }
  std::size_t bits = 0;
  (void)row_of(type);
  if (__builtin_mul_overflow(elements, npu::bit_width(type), &bits)) {
    refuse("a tensor of the shape " + npu::to_string(shape) + " fits into no memory");
  }
  return bits / 8 + (bits % 8 == 0 ? 0 : 1);
}

nb::object to_numpy(const npu::Tensor& tensor, ElementType type, const npu::Shape& shape,
                    std::shared_ptr<Kept> kept) {
  const TypeRow& row = row_of(type);
  const nb::capsule owner = owner_of(tensor, std::move(kept));
  const auto sizes = sizes_of(shape);
  if (!is_extension(type)) return export_as<nb::numpy>(tensor, dlpack_type(row), sizes, owner);
  const nb::object bits = export_as<nb::numpy>(tensor, bits_of(row), sizes, owner);
  const nb::object dtype = extension_dtype(row.name);
  return dtype.is_valid() ? bits.attr("view")(dtype) : bits;
}

nb::object to_exporter(const npu::Tensor& tensor, ElementType type, const npu::Shape& shape) {
  return export_as<nb::array_api>(tensor, dlpack_type(row_of(type)), sizes_of(shape),
                                  owner_of(tensor, {}));
}

ArrayIn array_in(const char* kind, const std::string& name, nb::handle object, ElementType type,
                 const npu::Shape& shape, bool is_written) {
  const TypeRow& row = row_of(type);
  const auto what = [&] { return std::string(kind) + " \"" + name + '"'; };
  const nb::object plain = is_extension(type) ? without_extension(object, row) : nb::borrow(object);
  nb::ndarray<nb::ro, nb::device::cpu> array;
  nb::ndarray<nb::device::cpu> writable;
  if (!import(plain, array) || (is_written && !import(plain, writable))) {
    refuse_object(what(), object, is_written);
  }
  const auto given = array.dtype();
  ArrayIn in = described(std::move(array));
  const bool is_right_type = takes(type, given);
  if (!is_right_type || !is_same_but_for_ones(shape, in.shape)) {
    refuse(what() + " takes " + row.name + " " + npu::to_string(shape) + ", the array is " +
           name_of(given) + " " + npu::to_string(in.shape) +
           (is_right_type ? std::string(": its shape must be the same")
                          : std::string(": convert it, with array.astype('") + row.name + "')"));
  }
  if (is_written && !in.is_dense) {
    refuse(what() + " needs a dense array, row after row: this one has strides");
  }
  return in;
}

void copy_dense(const ArrayIn& from, std::byte* to) {
  if (from.size_bytes == 0) return;
  if (from.is_dense) {
    std::memcpy(to, from.data, from.size_bytes);
    return;
  }
  switch (from.array.itemsize()) {
    case 1:
      return copy_rows<std::uint8_t>(from, 0, from.data, to);
    case 2:
      return copy_rows<std::uint16_t>(from, 0, from.data, to);
    case 4:
      return copy_rows<std::uint32_t>(from, 0, from.data, to);
    default:
      return copy_rows<std::uint64_t>(from, 0, from.data, to);
  }
}

npu::Tensor tensor_at(const std::byte* data, std::size_t size_bytes) {
  return ShownMemory::instance().find(data, size_bytes);
}

void bind_arrays(nb::module_& module) {
  module.def(
      "dtype_name", [](nb::handle dtype) { return dtype_name(type_from(dtype)); }, nb::arg("dtype"),
      "NumPy's name of an element type: 'f32' and numpy.float32 give 'float32'.");
}

}  // namespace pynpu
