#include <gtest/gtest.h>

#include <array>
#include <cstring>

#include <npucore/error.hpp>

#include "inputs.hpp"
#include "ir_files.hpp"
#include "latencies.hpp"

namespace {

using std::chrono::milliseconds;
using std::chrono::nanoseconds;

TEST(LatenciesTest, OfNoneAreZero) {
  const auto summary = summarise({});
  EXPECT_EQ(summary.median, 0);
  EXPECT_EQ(summary.maximum, 0);
}

TEST(LatenciesTest, OfOneAreThatOne) {
  const auto summary = summarise({milliseconds(3)});
  for (const double value : {summary.average, summary.minimum, summary.median, summary.p90,
                             summary.p99, summary.maximum}) {
    EXPECT_EQ(value, 3);
  }
}

TEST(LatenciesTest, PercentilesAreNearestRanks) {
  std::vector<nanoseconds> latencies;
  for (int i = 200; i >= 1; --i) latencies.push_back(milliseconds(i));
  const auto summary = summarise(latencies);
  EXPECT_EQ(summary.minimum, 1);
  EXPECT_EQ(summary.median, 100);
  EXPECT_EQ(summary.p90, 180);
  EXPECT_EQ(summary.p99, 198);
  EXPECT_EQ(summary.maximum, 200);
  EXPECT_EQ(summary.average, 100.5);
}

std::vector<npu::Port> two_ports() {
  return {{"a", {"first"}, npu::ElementType::kF32, {1, 2}},
          {"b", {}, npu::ElementType::kU8, {1, 4}}};
}

template <std::size_t N>
std::array<std::byte, N> filled(const InputSource& source, std::size_t index) {
  std::array<std::byte, N> bytes{};
  source.fill(index, bytes);
  return bytes;
}

TEST(InputsTest, TheSameSeedGivesTheSameBytes) {
  const auto ports = two_ports();
  const InputSource one(ports, {}, 7), same(ports, {}, 7), other(ports, {}, 8);
  EXPECT_EQ(filled<8>(one, 0), filled<8>(same, 0));
  EXPECT_NE(filled<8>(one, 0), filled<8>(other, 0));
}

struct Range {
  npu::ElementType type;
  std::size_t bytes;
  double (*value)(const std::byte*);
  double lowest, above;
};

template <class T>
double as(const std::byte* at) {
  T value;
  std::memcpy(&value, at, sizeof(T));
  return static_cast<double>(value);
}

double as_bf16(const std::byte* at) {
  std::uint16_t half;
  std::memcpy(&half, at, sizeof(half));
  const std::uint32_t bits = std::uint32_t(half) << 16;
  float value;
  std::memcpy(&value, &bits, sizeof(value));
  return value;
}

void PrintTo(const Range& row, std::ostream* out) {
  *out << npu::to_string(row.type);
}

class RandomRangeTest : public testing::TestWithParam<Range> {};

TEST_P(RandomRangeTest, HoldsEveryValue) {
  const auto& row = GetParam();
  constexpr std::int64_t kCount = 300;
  const std::vector<npu::Port> ports = {{"x", {}, row.type, {kCount}}};
  std::vector<std::byte> bytes(kCount * row.bytes);
  InputSource(ports, {}, 1).fill(0, bytes);
  bool differ = false;
  for (std::size_t at = 0; at < bytes.size(); at += row.bytes) {
    const double value = row.value(bytes.data() + at);
    EXPECT_GE(value, row.lowest);
    EXPECT_LT(value, row.above);
    differ |= value != row.value(bytes.data());
  }
  EXPECT_TRUE(differ);
}

INSTANTIATE_TEST_SUITE_P(Table, RandomRangeTest,
                         testing::Values(Range{npu::ElementType::kF32, 4, as<float>, 0, 1},
                                         Range{npu::ElementType::kF64, 8, as<double>, 0, 1},
                                         Range{npu::ElementType::kBF16, 2, as_bf16, 0.5, 1},
                                         Range{npu::ElementType::kU8, 1, as<std::uint8_t>, 0, 256},
                                         Range{npu::ElementType::kI32, 4, as<std::int32_t>, 0, 2},
                                         Range{npu::ElementType::kI64, 8, as<std::int64_t>, 0, 2}));

TEST(InputsTest, TakesAFileByTensorName) {
  const npu::test::TempDir dir;
  const auto file = dir.write("x.raw", "12345678");
  const auto ports = two_ports();
  const InputSource source(ports, {"first=" + file.string()}, 1);
  const auto bytes = filled<8>(source, 0);
  EXPECT_EQ(std::memcmp(bytes.data(), "12345678", 8), 0);
}

struct BadInput : Named {
  const char* spec;  ///< "DIR" stands for a folder with x.raw of 3 bytes
  const char* expected;
};

class BadInputTest : public testing::TestWithParam<BadInput> {};

TEST_P(BadInputTest, IsRefusedInWords) {
  const npu::test::TempDir dir;
  dir.write("x.raw", "123");
  std::string spec = GetParam().spec;
  if (const auto at = spec.find("DIR"); at != std::string::npos) {
    spec.replace(at, 3, dir.path().string());
  }
  const auto ports = two_ports();
  EXPECT_TRUE(has(thrown_by([&] { InputSource(ports, {spec}, 1); }), GetParam().expected));
}

INSTANTIATE_TEST_SUITE_P(Table, BadInputTest,
                         testing::Values(BadInput{"no_name", "DIR/x.raw", "NAME=FILE"},
                                         BadInput{"unknown", "c=DIR/x.raw", "it has a, b"},
                                         BadInput{"missing", "a=DIR/y.raw", "cannot read"},
                                         BadInput{"short_file", "a=DIR/x.raw",
                                                  "has 3 bytes, 'a' f32[1,2] needs 8"}),
                         by_name);

}  // namespace
