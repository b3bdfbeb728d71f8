// f16 and bf16 against their definition, element by element.
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <limits>
#include <vector>

#include <npucore/types.hpp>

#include "support.hpp"

namespace npu::test {
namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();
constexpr unsigned kHalfInfinity = 0x7C00, kBfloatInfinity = 0x7F80, kSign = 0x8000;

template <class To>
std::uint16_t bits_of(float value) {
  To converted[1];
  convert(std::span<const float>(&value, 1), converted);
  return converted[0].bits;
}

/// By IEEE 754: sign, exponent with bias 15, mantissa of 10 bits.
double half_value(unsigned bits) {
  const int exponent = static_cast<int>(bits >> 10 & 0x1F),
            mantissa = static_cast<int>(bits & 0x3FF);
  const double magnitude =
      exponent == 0 ? std::ldexp(mantissa, -24) : std::ldexp(mantissa + 0x400, exponent - 25);
  return bits & kSign ? -magnitude : magnitude;
}

TEST(Halves, AreAllReadExactly) {
  for (unsigned bits = 0; bits <= 0xFFFF; ++bits) {
    const float value = Half{static_cast<std::uint16_t>(bits)};
    const unsigned magnitude = bits & ~kSign;
    if (magnitude > kHalfInfinity) {
      EXPECT_TRUE(std::isnan(value)) << bits;
    } else if (magnitude == kHalfInfinity) {
      EXPECT_EQ(value, bits & kSign ? -kInfinity : kInfinity);
    } else {
      EXPECT_EQ(value, half_value(bits)) << bits;
    }
    EXPECT_EQ(std::signbit(value), (bits & kSign) != 0) << bits;
  }
}

TEST(Halves, AreAllWrittenAsTheyWereRead) {
  for (unsigned bits = 0; bits <= 0xFFFF; ++bits) {
    const float value = Half{static_cast<std::uint16_t>(bits)};
    const unsigned written = bits_of<Half>(value);
    if (std::isnan(value)) {
      EXPECT_GT(written & ~kSign, kHalfInfinity) << bits;
      EXPECT_EQ(written & kSign, bits & kSign) << bits;
    } else {
      EXPECT_EQ(written, bits);
    }
  }
}

TEST(Halves, AreRoundedToTheNearestAndHalfwayToTheEven) {
  for (unsigned bits = 0; bits < kHalfInfinity; ++bits) {
    const double next = bits + 1 == kHalfInfinity ? 65536 : half_value(bits + 1);
    const auto middle = static_cast<float>((half_value(bits) + next) / 2);  // exact
    const unsigned even = bits + (bits & 1U);
    EXPECT_EQ(bits_of<Half>(middle), even) << bits;
    EXPECT_EQ(bits_of<Half>(-middle), even | kSign) << bits;
    EXPECT_EQ(bits_of<Half>(std::nextafter(middle, 0.F)), bits) << bits;
    EXPECT_EQ(bits_of<Half>(std::nextafter(middle, kInfinity)), bits + 1) << bits;
  }
}

TEST(Halves, OfNumbersThatAreTooLargeAreInfinite) {
  for (const float value : {65520.F, 1e6F, std::numeric_limits<float>::max(), kInfinity}) {
    EXPECT_EQ(bits_of<Half>(value), kHalfInfinity) << value;
    EXPECT_EQ(bits_of<Half>(-value), kHalfInfinity | kSign) << value;
  }
  EXPECT_EQ(bits_of<Half>(std::numeric_limits<float>::denorm_min()), 0);
  EXPECT_EQ(bits_of<Half>(-0.F), kSign);
}

/// Also those whose only bits are in the part that is cut off.
TEST(NotANumber, StaysOne) {
  for (const unsigned bits : {0x7F800001U, 0x7F80FFFFU, 0x7FC00000U, 0xFF800001U, 0xFFFFFFFFU}) {
    const auto value = std::bit_cast<float>(bits);
    ASSERT_TRUE(std::isnan(value));
    const unsigned sign = bits >> 16 & kSign;
    EXPECT_GT(bits_of<Half>(value) & ~kSign, kHalfInfinity) << bits;
    EXPECT_EQ(bits_of<Half>(value) & kSign, sign) << bits;
    EXPECT_GT(bits_of<Bfloat16>(value) & ~kSign, kBfloatInfinity) << bits;
    EXPECT_EQ(bits_of<Bfloat16>(value) & kSign, sign) << bits;
  }
}

TEST(Bfloats, AreTheUpperHalvesOfFloats) {
  for (unsigned bits = 0; bits <= 0xFFFF; ++bits) {
    const float value = Bfloat16{static_cast<std::uint16_t>(bits)};
    EXPECT_EQ(std::bit_cast<std::uint32_t>(value), bits << 16);
    if (!std::isnan(value)) {
      EXPECT_EQ(bits_of<Bfloat16>(value), bits);
    }
  }
}

TEST(Bfloats, AreRoundedToTheNearestAndHalfwayToTheEven) {
  for (unsigned bits = 0; bits < kBfloatInfinity; ++bits) {
    const auto middle = std::bit_cast<float>(bits << 16 | 0x8000U);
    const unsigned even = bits + (bits & 1U);
    EXPECT_EQ(bits_of<Bfloat16>(middle), even) << bits;
    EXPECT_EQ(bits_of<Bfloat16>(-middle), even | kSign) << bits;
    EXPECT_EQ(bits_of<Bfloat16>(std::nextafter(middle, 0.F)), bits) << bits;
    EXPECT_EQ(bits_of<Bfloat16>(std::nextafter(middle, kInfinity)), bits + 1) << bits;
  }
}

/// Long spans are converted in blocks.
TEST(Spans, AreConvertedToTheirLastElement) {
  for (const std::size_t count : {0U, 1U, 63U, 64U, 65U, 128U, 200U}) {
    std::vector<float> values(count), read(count + 1, -1), read_bfloats(count + 1, -1);
    for (std::size_t i = 0; i < count; ++i) values[i] = static_cast<float>(i) / 4;
    std::vector<Half> halves(count);
    std::vector<Bfloat16> bfloats(count);
    convert(values, halves);
    convert(values, bfloats);
    convert(halves, std::span(read).first(count));
    convert(bfloats, std::span(read_bfloats).first(count));
    values.push_back(-1);  // is left alone
    EXPECT_EQ(read, values);
    EXPECT_EQ(read_bfloats, values);
  }
}

TEST(Spans, OfTwoSizesAreRefused) {
  std::vector<Half> halves(3);
  std::vector<float> floats(2);
  expect_error(ErrorCode::kInvalidArgument, "3 elements of f16 do not fill 2 of f32",
               [&] { convert(halves, floats); });
  expect_error(ErrorCode::kInvalidArgument, "2 elements of f32 do not fill 3 of f16",
               [&] { convert(floats, halves); });
}

TEST(ElementTypes, OfCppAreFound) {
  EXPECT_EQ(element_type_of<float>(), ElementType::kF32);
  EXPECT_EQ(element_type_of<double>(), ElementType::kF64);
  EXPECT_EQ(element_type_of<Half>(), ElementType::kF16);
  EXPECT_EQ(element_type_of<Bfloat16>(), ElementType::kBF16);
  EXPECT_EQ(element_type_of<bool>(), ElementType::kBoolean);
  EXPECT_EQ(element_type_of<std::int8_t>(), ElementType::kI8);
  EXPECT_EQ(element_type_of<std::uint8_t>(), ElementType::kU8);
  EXPECT_EQ(element_type_of<std::int16_t>(), ElementType::kI16);
  EXPECT_EQ(element_type_of<std::uint16_t>(), ElementType::kU16);
  EXPECT_EQ(element_type_of<std::int32_t>(), ElementType::kI32);
  EXPECT_EQ(element_type_of<std::uint32_t>(), ElementType::kU32);
  EXPECT_EQ(element_type_of<std::int64_t>(), ElementType::kI64);
  EXPECT_EQ(element_type_of<long long>(), ElementType::kI64);
  EXPECT_EQ(element_type_of<std::uint64_t>(), ElementType::kU64);
  EXPECT_EQ(element_type_of<std::string>(), ElementType::kUnknown);
  EXPECT_EQ(element_type_of<std::byte>(), ElementType::kUnknown);
}

}  // namespace
}  // namespace npu::test
