#include "compile/estimate.hpp"

#include <gtest/gtest.h>

namespace npu::test {
namespace {

using internal::read_estimate;

const std::string kLine =
    "[INFO] 12:00:00.001 [analysis]   Estimated inference latency: 380.01 us in dpu frequency "
    "1850.00 MHz\n";
const std::string kLeftOut =
    "[WARNING] 12:00:00.002 [analysis]   [Energy] The following SHAVE operations are unsupported "
    "by VPUNN, which can influence the estimation: [builtin_Convert, builtin_Convert.convert_p00, "
    "builtin_Interpolate]\n";

TEST(Estimate, IsReadFromTheLog) {
  const auto estimate = read_estimate("before\n" + kLine + "after\n");
  ASSERT_TRUE(estimate);
  EXPECT_DOUBLE_EQ(estimate->latency_us, 380.01);
  EXPECT_DOUBLE_EQ(estimate->frequency_mhz, 1850);
  EXPECT_TRUE(estimate->left_out.empty());
}

TEST(Estimate, NamesEachOperatorOnceThatItLeavesOut) {
  const auto estimate = read_estimate(kLine + kLeftOut);
  ASSERT_TRUE(estimate);
  EXPECT_EQ(estimate->left_out, (std::vector<std::string>{"Convert", "Interpolate"}));
}

/// A compiler may print nonsense: the time would grow with the square of the names.
TEST(Estimate, TakesAsManyNamesAsThereMayBeOperators) {
  std::string list = "SHAVE operations are unsupported by VPUNN: [a";
  for (int i = 0; i < 200'000; ++i) list += ", n" + std::to_string(i);
  const auto estimate = read_estimate(kLine + list + "]\n");
  ASSERT_TRUE(estimate);
  EXPECT_EQ(estimate->left_out.size(), 64U);
}

TEST(Estimate, IsNotMadeUp) {
  for (const std::string& log :
       {std::string(), kLeftOut, std::string("Estimated inference latency: "),
        std::string("Estimated inference latency: soon in dpu frequency 1850.00 MHz\n"),
        std::string("Estimated inference latency: nan us in dpu frequency 1850.00 MHz\n"),
        std::string("Estimated inference latency: 380.01 us\nfrequency 1850.00 MHz\n")}) {
    EXPECT_FALSE(read_estimate(log)) << log;
  }
}

TEST(Estimate, StandsAListThatIsCut) {
  const auto estimate = read_estimate(kLine + kLeftOut.substr(0, kLeftOut.find(", builtin_Int")));
  ASSERT_TRUE(estimate);
  EXPECT_EQ(estimate->left_out, (std::vector<std::string>{"Convert"}));
}

}  // namespace
}  // namespace npu::test
