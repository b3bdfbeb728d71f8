#include <gtest/gtest.h>

#include "ze/argument.hpp"
#include "ze/loader.hpp"
#include "ze/result.hpp"

#include "support.hpp"

namespace npu::test {
namespace {

struct ResultRow {
  const char* name;
  ze_result_t result;
  ErrorCode code;
  const char* text;
};

class Results : public ::testing::TestWithParam<ResultRow> {};

TEST_P(Results, AreNamedAndMapped) {
  expect_error(GetParam().code,
               std::string("zeCall failed with ") + GetParam().text + ": do this instead",
               [] { ze::check(GetParam().result, "zeCall", "do this instead"); });
}

INSTANTIATE_TEST_SUITE_P(
    Rows, Results,
    ::testing::Values(
        ResultRow{"lost", ZE_RESULT_ERROR_DEVICE_LOST, ErrorCode::kDeviceLost,
                  "ZE_RESULT_ERROR_DEVICE_LOST (0x70000001)"},
        ResultRow{"memory", ZE_RESULT_ERROR_OUT_OF_DEVICE_MEMORY, ErrorCode::kOutOfMemory,
                  "ZE_RESULT_ERROR_OUT_OF_DEVICE_MEMORY (0x70000003)"},
        ResultRow{"blob", ZE_RESULT_ERROR_INVALID_NATIVE_BINARY, ErrorCode::kIncompatible,
                  "ZE_RESULT_ERROR_INVALID_NATIVE_BINARY (0x7800000f)"},
        ResultRow{"feature", ZE_RESULT_ERROR_UNSUPPORTED_FEATURE, ErrorCode::kUnsupported,
                  "ZE_RESULT_ERROR_UNSUPPORTED_FEATURE (0x78000003)"},
        ResultRow{"unlisted", static_cast<ze_result_t>(0x12345), ErrorCode::kInternal,
                  "an unlisted result (0x12345)"}),
    by_name);

TEST(Results, CarryTheDriversLog) {
  const Error error = ze::make_error(ErrorCode::kCompileFailed, ZE_RESULT_ERROR_UNKNOWN,
                                     "pfnCreate3", "compiling", "no such layer");
  EXPECT_EQ(error.driver_log(), "no such layer");
  EXPECT_STREQ(error.what(),
               "pfnCreate3 failed with ZE_RESULT_ERROR_UNKNOWN (0x7ffffffe): compiling [driver: no "
               "such layer]");
}

TEST(Results, LetSuccessPass) {
  EXPECT_NO_THROW(ze::check(ZE_RESULT_SUCCESS, "zeCall"));
}

TEST(Loader, ThatIsMissingIsAnErrorWithItsName) {
  expect_error(ErrorCode::kNotFound, "libze_no_loader.so.1",
               [] { ze::Loader::open("libze_no_loader.so.1"); });
}

TEST(Loader, ThatIsSomethingElseSaysWhatItLacks) {
  expect_error(ErrorCode::kNotFound, "libm.so.6 lacks zeInit",
               [] { ze::Loader::open("libm.so.6"); });
}

TEST(Loader, IsFoundByDefault) {
  EXPECT_TRUE(has(ze::Loader::open(ze::Loader::default_library())->library, "libze_loader"));
}

TEST(ElementType, FollowsThePrecisionsNumber) {
  EXPECT_EQ(ze::element_type(ZE_GRAPH_ARGUMENT_PRECISION_FP32), ElementType::kF32);
  EXPECT_EQ(ze::element_type(ZE_GRAPH_ARGUMENT_PRECISION_UINT8), ElementType::kU8);
  EXPECT_EQ(ze::element_type(ZE_GRAPH_ARGUMENT_PRECISION_BIN), ElementType::kU1);
  EXPECT_EQ(ze::element_type(ZE_GRAPH_ARGUMENT_PRECISION_BOOLEAN), ElementType::kBoolean);
  EXPECT_EQ(ze::element_type(ZE_GRAPH_ARGUMENT_PRECISION_INT64), ElementType::kI64);
  EXPECT_EQ(ze::element_type(ZE_GRAPH_ARGUMENT_PRECISION_FP8_E8M0), ElementType::kF8E8M0);
  EXPECT_EQ(ze::element_type(ZE_GRAPH_ARGUMENT_PRECISION_UINT2), ElementType::kU2);
  EXPECT_EQ(ze::element_type(static_cast<ze_graph_argument_precision_t>(99)),
            ElementType::kUnknown);
}

}  // namespace
}  // namespace npu::test
