#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include <npucore/error.hpp>

#include "difference.hpp"
#include "inputs.hpp"
#include "ir_files.hpp"
#include "npy.hpp"
#include "object_difference.hpp"

namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

Difference difference(const std::vector<double>& tested, const std::vector<double>& reference,
                      Tolerance tolerance = {.absolute = 0.5, .relative = 0}) {
  DifferenceMeter meter(tolerance);
  meter.add(tested, reference);
  return meter.result();
}

TEST(DifferenceTest, OfEqualTensorsIsNone) {
  const auto found = difference({1, -2, 0}, {1, -2, 0});
  EXPECT_TRUE(found.is_within_tolerance());
  EXPECT_EQ(found.largest, 0);
  EXPECT_EQ(found.mean, 0);
  EXPECT_DOUBLE_EQ(found.cosine, 1);
}

TEST(DifferenceTest, TellsTheLargestAndWhereItIs) {
  DifferenceMeter meter({.absolute = 0.5, .relative = 0});
  meter.add(std::vector<double>{1, 2}, std::vector<double>{1.25, 2});
  meter.add(std::vector<double>{3, 4}, std::vector<double>{3, 1});
  const auto found = meter.result();
  EXPECT_EQ(found.values, 4u);
  EXPECT_EQ(found.beyond, 1u);
  EXPECT_EQ(found.largest, 3);
  EXPECT_EQ(found.mean, 3.25 / 4);
  EXPECT_EQ(found.frame, 1u);
  EXPECT_EQ(found.index, 1u);
  EXPECT_EQ(found.tested, 4);
  EXPECT_EQ(found.reference, 1);
}

TEST(DifferenceTest, CosineIsThatOfTheAngle) {
  EXPECT_NEAR(difference({1, 0}, {0, 1}).cosine, 0, 1e-15);
  EXPECT_NEAR(difference({1, 1}, {2, 2}).cosine, 1, 1e-15);
  EXPECT_NEAR(difference({1, 0}, {1, 1}).cosine, std::sqrt(0.5), 1e-15);
  EXPECT_EQ(difference({0, 0}, {0, 0}).cosine, 1);
  EXPECT_EQ(difference({0, 0}, {0, 1}).cosine, 0);
}

TEST(DifferenceTest, TheRelativeToleranceGrowsWithTheReference) {
  const Tolerance tolerance{.absolute = 1, .relative = 0.1};
  EXPECT_TRUE(difference({111}, {100}, tolerance).is_within_tolerance());
  EXPECT_FALSE(difference({111.5}, {100}, tolerance).is_within_tolerance());
  EXPECT_FALSE(difference({3}, {1}, tolerance).is_within_tolerance());
}

TEST(DifferenceTest, WhatIsFiniteOnOneSideOnlyIsNeverEqual) {
  for (const double odd : {kNan, kInfinity, -kInfinity}) {
    for (const auto& found : {difference({odd}, {1}), difference({1}, {odd})}) {
      EXPECT_FALSE(found.is_within_tolerance()) << odd;
      EXPECT_EQ(found.largest, kInfinity) << odd;
    }
    EXPECT_TRUE(difference({odd}, {odd}).is_within_tolerance()) << odd;
  }
  EXPECT_FALSE(
      difference({kInfinity}, {-kInfinity}, {.absolute = 1, .relative = 1}).is_within_tolerance());
  EXPECT_FALSE(difference({1}, {kInfinity}, {.absolute = 1, .relative = 1}).is_within_tolerance());
}

template <class T>
std::vector<double> values(npu::ElementType type, const std::vector<T>& elements) {
  const npu::Port port{"out", {}, type, {static_cast<std::int64_t>(elements.size())}};
  return values_of(port, std::as_bytes(std::span(elements)));
}

TEST(ValuesTest, AreThoseOfEveryType) {
  using npu::ElementType;
  using Doubles = std::vector<double>;
  EXPECT_EQ(values<float>(ElementType::kF32, {1.5F, -2}), (Doubles{1.5, -2}));
  EXPECT_EQ(values<double>(ElementType::kF64, {1e300}), (Doubles{1e300}));
  EXPECT_EQ(values<std::uint16_t>(ElementType::kF16, {0x3c00, 0xc000, 0x7bff, 1, 0x0400, 0}),
            (Doubles{1, -2, 65504, 0x1p-24, 0x1p-14, 0}));
  EXPECT_EQ(values<std::uint16_t>(ElementType::kF16, {0x7c00, 0xfc00}),
            (Doubles{kInfinity, -kInfinity}));
  EXPECT_TRUE(std::isnan(values<std::uint16_t>(ElementType::kF16, {0x7e00})[0]));
  EXPECT_EQ(values<std::uint16_t>(ElementType::kBF16, {0x3f80, 0xc000}), (Doubles{1, -2}));
  EXPECT_EQ(values<std::uint8_t>(ElementType::kI8, {255, 1}), (Doubles{-1, 1}));
  EXPECT_EQ(values<std::uint8_t>(ElementType::kU8, {255, 1}), (Doubles{255, 1}));
  EXPECT_EQ(values<std::uint8_t>(ElementType::kBoolean, {0, 1}), (Doubles{0, 1}));
  EXPECT_EQ(values<std::uint16_t>(ElementType::kI16, {65535}), (Doubles{-1}));
  EXPECT_EQ(values<std::uint16_t>(ElementType::kU16, {65535}), (Doubles{65535}));
  EXPECT_EQ(values<std::int32_t>(ElementType::kI32, {-7}), (Doubles{-7}));
  EXPECT_EQ(values<std::uint32_t>(ElementType::kU32, {4000000000U}), (Doubles{4e9}));
  EXPECT_EQ(values<std::int64_t>(ElementType::kI64, {-1}), (Doubles{-1}));
  EXPECT_EQ(values<std::uint64_t>(ElementType::kU64, {1}), (Doubles{1}));
}

TEST(ValuesTest, OfATypeWithoutNumbersAreRefused) {
  EXPECT_THROW(values<std::uint8_t>(npu::ElementType::kU4, {1, 1}), npu::Error);
}

/// As numpy.save() writes it.
std::string npy(const std::string& descr, const std::string& shape, const std::string& bytes,
                const std::string& order = "False") {
  std::string header =
      "{'descr': '" + descr + "', 'fortran_order': " + order + ", 'shape': " + shape + ", }";
  header.resize(118, ' ');
  header.back() = '\n';
  return std::string("\x93NUMPY\x01\x00\x76\x00", 10) + header + bytes;
}

using npu::vision::Answer;
using npu::vision::OrientedBox;

/// One object with a mask of these columns and rows over its box of 4x2 pixels.
Answer answer_of_mask(std::uint32_t x, const std::vector<std::uint8_t>& pixels,
                      std::uint32_t columns, std::uint32_t rows) {
  Answer answer;
  answer.objects.push_back({.left = 0, .top = 0, .right = 4, .bottom = 2, .oriented = {}});
  answer.masks.push_back({.x = x,
                          .y = 0,
                          .width = 4,
                          .height = 2,
                          .columns = columns,
                          .rows = rows,
                          .first = answer.mask_pixels.size()});
  answer.mask_pixels = pixels;
  return answer;
}

double overlap_of(const Answer& one, const Answer& other) {
  const double there = mask_overlap({one, 0}, {other, 0});
  EXPECT_EQ(there, mask_overlap({other, 0}, {one, 0}));
  return there;
}

TEST(MaskOverlapTest, IsThatOfTheFramesPixels) {
  const Answer full = answer_of_mask(0, std::vector<std::uint8_t>(8, 255), 4, 2);
  const Answer half = answer_of_mask(0, {255, 255, 0, 0, 255, 255, 0, 0}, 4, 2);
  EXPECT_EQ(overlap_of(full, full), 1);
  EXPECT_EQ(overlap_of(full, half), 0.5);
  EXPECT_EQ(overlap_of(half, answer_of_mask(0, {255, 0}, 2, 1)), 1) << "a coarser one";
  EXPECT_EQ(overlap_of(full, answer_of_mask(2, std::vector<std::uint8_t>(8, 255), 4, 2)), 4.0 / 12);
}

TEST(MaskOverlapTest, OfNoMaskIsNone) {
  const Answer full = answer_of_mask(0, std::vector<std::uint8_t>(8, 255), 4, 2);
  const Answer empty = answer_of_mask(0, std::vector<std::uint8_t>(8, 0), 4, 2);
  Answer none;
  none.objects = full.objects;
  EXPECT_EQ(overlap_of(full, none), 0);
  EXPECT_EQ(overlap_of(none, none), 1);
  EXPECT_EQ(overlap_of(empty, none), 1);
}

TEST(ObjectDifferenceTest, OfOrientedBoxesIsThatOfTheirCorners) {
  const auto answer_of = [](const OrientedBox& box) {
    Answer answer;
    answer.objects.push_back({.left = 0, .top = 0, .right = 9, .bottom = 9, .oriented = box});
    return answer;
  };
  constexpr double kQuarter = 1.5707963267948966;
  const Answer lying = answer_of({5, 5, 8, 2, 0}), standing = answer_of({5, 5, 8, 2, -kQuarter});
  EXPECT_NEAR(largest_shift({lying, 0}, {standing, 0}), std::hypot(3, 3), 1e-9);
  const Answer same = answer_of({5, 5, 2, 8, -kQuarter});
  EXPECT_NEAR(largest_shift({lying, 0}, {same, 0}), 0, 1e-9) << "its other side is the width";
}

TEST(ObjectDifferenceTest, HoldsKeyPoints) {
  Answer one, other;
  one.objects.push_back({.left = 0, .top = 0, .right = 9, .bottom = 9, .oriented = {}});
  other.objects = one.objects;
  one.key_points_per_object = other.key_points_per_object = 2;
  one.key_points = {{1, 1, 0.9F}, {5, 5, 0.5F}};
  other.key_points = {{1, 1, 0.9F}, {8, 9, 0.25F}};
  EXPECT_EQ(largest_shift({one, 0}, {other, 0}), 5);
  EXPECT_EQ(largest_score_difference({one, 0}, {other, 0}), 0.25);
}

TEST(NpyTest, TellsTypeShapeAndWhereTheBytesAre) {
  const auto found = parse_npy(npy("<f4", "(1, 2)", "12345678"), "a.npy");
  ASSERT_TRUE(found);
  EXPECT_EQ(found->type, npu::ElementType::kF32);
  EXPECT_EQ(found->shape, (npu::Shape{1, 2}));
  EXPECT_EQ(found->data_offset, 128u);
  EXPECT_EQ(parse_npy(npy("|u1", "(8,)", "12345678"), "a.npy")->shape, (npu::Shape{8}));
  EXPECT_EQ(parse_npy(npy("<i8", "()", "12345678"), "a.npy")->shape, npu::Shape{});
}

TEST(NpyTest, OtherFilesAreNone) {
  EXPECT_FALSE(parse_npy("", "a"));
  EXPECT_FALSE(parse_npy("raw bytes", "a"));
}

TEST(NpyTest, RefusesWhatNoTensorIs) {
  const std::string whole = npy("<f4", "(1, 2)", "");
  EXPECT_THROW(parse_npy(npy(">f4", "(1, 2)", ""), "a"), npu::Error);
  EXPECT_THROW(parse_npy(npy("<f4", "(1, 2)", "", "True"), "a"), npu::Error);
  EXPECT_THROW(parse_npy(npy("<f4", "(1, x)", ""), "a"), npu::Error);
  EXPECT_THROW(parse_npy(npy("<f4", "(1, -2)", ""), "a"), npu::Error);
  for (std::size_t size = 6; size < whole.size(); ++size) {
    EXPECT_THROW(parse_npy(std::string_view(whole).substr(0, size), "a"), npu::Error) << size;
  }
}

std::vector<npu::Port> one_port() {
  return {{"a", {}, npu::ElementType::kU8, {1, 4}}};
}

std::string filled(const InputSource& source, std::size_t frame) {
  std::string bytes(4, '\0');
  source.fill(0, std::as_writable_bytes(std::span(bytes)), frame);
  return bytes;
}

TEST(FramesTest, AnInputTakesItsFilesInTurn) {
  const npu::test::TempDir dir;
  const auto raw = dir.write("a.raw", "RAW1").string();
  const auto array = dir.write("b.npy", npy("|u1", "(1, 4)", "NPY2")).string();
  const auto ports = one_port();
  const InputSource source(ports, {raw, "a=" + array}, 1);
  EXPECT_EQ(source.frames(), 2u);
  EXPECT_EQ(filled(source, 0), "RAW1");
  EXPECT_EQ(filled(source, 1), "NPY2");
  EXPECT_EQ(filled(source, 2), "RAW1");
}

TEST(FramesTest, RandomOnesAreNotTheSame) {
  const auto ports = one_port();
  const InputSource source(ports, {}, 1);
  EXPECT_EQ(source.frames(), 0u);
  EXPECT_NE(filled(source, 0), filled(source, 1));
}

TEST(FramesTest, RefusesAnArrayOfAnotherTypeOrShape) {
  const npu::test::TempDir dir;
  const auto ports = one_port();
  for (const auto& file :
       {npy("|i1", "(1, 4)", "1234"), npy("|u1", "(4,)", "1234"), npy("|u1", "(1, 4)", "12345")}) {
    const auto path = dir.write("a.npy", file).string();
    EXPECT_THROW(InputSource(ports, {path}, 1), npu::Error);
  }
}

}  // namespace
