#include "difference.hpp"

#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>

#include <npucore/error.hpp>

namespace {

using npu::ElementType;

template <class T>
std::vector<double> read_all(std::span<const std::byte> bytes) {
  std::vector<double> values(bytes.size() / sizeof(T));
  for (std::size_t i = 0; i < values.size(); ++i) {
    T value;
    std::memcpy(&value, bytes.data() + i * sizeof(T), sizeof(T));
    values[i] = static_cast<double>(value);
  }
  return values;
}

/// Infinite if only one side is not a number, or they are different infinities.
double distance(double tested, double reference) {
  if (tested == reference || (std::isnan(tested) && std::isnan(reference))) return 0;
  const double found = std::abs(tested - reference);
  return std::isnan(found) ? std::numeric_limits<double>::infinity() : found;
}

}  // namespace

void DifferenceMeter::add(std::span<const double> tested, std::span<const double> reference) {
  for (std::size_t i = 0; i < tested.size(); ++i) add(i, tested[i], reference[i]);
  ++frames_;
}

void DifferenceMeter::add(std::size_t index, double tested, double reference) {
  const double apart = distance(tested, reference);
  ++found_.values;
  sum_ += apart;
  const double allowed = tolerance_.absolute + tolerance_.relative * std::abs(reference);
  if (std::isinf(apart) || apart > allowed) {
    ++found_.beyond;
  }
  if (apart > found_.largest) {
    found_.largest = apart;
    found_.frame = frames_;
    found_.index = index;
    found_.tested = tested;
    found_.reference = reference;
  }
  if (!std::isfinite(tested) || !std::isfinite(reference)) return;
  product_ += tested * reference;
  tested_square_ += tested * tested;
  reference_square_ += reference * reference;
}

Difference DifferenceMeter::result() const {
  Difference result = found_;
  if (result.values != 0) {
    result.mean = sum_ / static_cast<double>(result.values);
  }
  const double lengths = std::sqrt(tested_square_) * std::sqrt(reference_square_);
  if (lengths != 0) {
    result.cosine = product_ / lengths;
  } else {
    result.cosine = tested_square_ == reference_square_ ? 1 : 0;
  }
  return result;
}

std::vector<double> values_of(const npu::Port& port, std::span<const std::byte> bytes) {
  bytes = bytes.first(port.size_bytes());
  switch (port.type) {
    case ElementType::kF32:
      return read_all<float>(bytes);
    case ElementType::kF64:
      return read_all<double>(bytes);
    case ElementType::kF16:
      return read_all<npu::Half>(bytes);
    case ElementType::kBF16:
      return read_all<npu::Bfloat16>(bytes);
    case ElementType::kI8:
      return read_all<std::int8_t>(bytes);
    case ElementType::kU8:
    case ElementType::kBoolean:
      return read_all<std::uint8_t>(bytes);
    case ElementType::kI16:
      return read_all<std::int16_t>(bytes);
    case ElementType::kU16:
      return read_all<std::uint16_t>(bytes);
    case ElementType::kI32:
      return read_all<std::int32_t>(bytes);
    case ElementType::kU32:
      return read_all<std::uint32_t>(bytes);
    case ElementType::kI64:
      return read_all<std::int64_t>(bytes);
    case ElementType::kU64:
      return read_all<std::uint64_t>(bytes);
    default:
      throw npu::Error(npu::ErrorCode::kUnsupported,
                       "values of type " + std::string(npu::to_string(port.type)) +
                           " cannot be compared, as the output '" + port.name + "' has them");
  }
}
