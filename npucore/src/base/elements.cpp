#include <npucore/error.hpp>
#include <npucore/types.hpp>

#include "text.hpp"

namespace npu {
namespace {

constexpr std::uint32_t kSign = 0x80000000U;
constexpr std::uint32_t kInfinity = 0x7F800000U;

/// `chosen` where the condition holds, without a branch.
constexpr std::uint32_t choose(bool condition, std::uint32_t chosen, std::uint32_t otherwise) {
  const std::uint32_t mask = 0U - static_cast<std::uint32_t>(condition);
  return (chosen & mask) | (otherwise & ~mask);
}

inline std::uint16_t half_bits(float value) {
  constexpr std::uint32_t kOverflow = 0x477FF000U;     // 65520, halfway to 2^16
  constexpr std::uint32_t kLeastNormal = 0x38800000U;  // 2^-14
  constexpr std::uint32_t kRebias = (127U - 15U) << 23;
  constexpr float kOneHalf = 0.5F;  // the last bit of a sum with it is 2^-24, the least half
  const auto bits = std::bit_cast<std::uint32_t>(value);
  const std::uint32_t magnitude = bits & ~kSign;
  const std::uint32_t normal = (magnitude - kRebias + 0xFFFU + (magnitude >> 13 & 1U)) >> 13;
  const std::uint32_t subnormal =
      std::bit_cast<std::uint32_t>(std::bit_cast<float>(magnitude) + kOneHalf) -
      std::bit_cast<std::uint32_t>(kOneHalf);
  const std::uint32_t nan = 0x7E00U | (magnitude >> 13 & 0x3FFU);
  std::uint32_t half = choose(magnitude < kLeastNormal, subnormal, normal);
  half = choose(magnitude >= kOverflow, 0x7C00U, half);
  half = choose(magnitude > kInfinity, nan, half);
  return static_cast<std::uint16_t>(half | (bits & kSign) >> 16);
}

inline std::uint16_t bfloat_bits(float value) {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  const bool is_nan = (bits & ~kSign) > kInfinity;
  const std::uint32_t rounded = (bits + 0x7FFFU + (bits >> 16 & 1U)) >> 16;
  return static_cast<std::uint16_t>(choose(is_nan, bits >> 16 | 0x40U, rounded));
}

template <class From, class To, class One>
void convert_all(std::span<const From> from, std::span<To> to, One one) {
  if (from.size() != to.size()) {
    throw Error(ErrorCode::kInvalidArgument,
                base::text("convert: ", from.size(), " elements of ",
                           to_string(element_type_of<From>()), " do not fill ", to.size(), " of ",
                           to_string(element_type_of<To>()), ": give spans of the same size"));
  }
  constexpr std::size_t kBlock = 64;
  const From* __restrict source = from.data();
  To* __restrict target = to.data();
  std::size_t done = 0;
  // Compilers vectorise a loop of constant length over memory that does not overlap.
  for (; done + kBlock <= from.size(); done += kBlock, source += kBlock, target += kBlock) {
    for (std::size_t i = 0; i < kBlock; ++i) one(source[i], target[i]);
  }
  for (std::size_t i = 0; i < from.size() - done; ++i) one(source[i], target[i]);
}

}  // namespace

void convert(std::span<const Half> from, std::span<float> to) {
  convert_all(from, to, [](Half value, float& result) { result = value; });
}

void convert(std::span<const Bfloat16> from, std::span<float> to) {
  convert_all(from, to, [](Bfloat16 value, float& result) { result = value; });
}

void convert(std::span<const float> from, std::span<Half> to) {
  convert_all(from, to, [](float value, Half& result) { result.bits = half_bits(value); });
}

void convert(std::span<const float> from, std::span<Bfloat16> to) {
  convert_all(from, to, [](float value, Bfloat16& result) { result.bits = bfloat_bits(value); });
}

}  // namespace npu
