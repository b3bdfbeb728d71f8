#include "graphs/settings.hpp"

#include <gtest/gtest.h>

#include <npucore/error.hpp>

#include "support/expect.hpp"

namespace gstnpu {
namespace {

TEST(Numbers, AreSeparatedByCommasOrBlanks) {
  EXPECT_EQ(parse_numbers("mean", "1.5, 2 3"), (std::vector<float>{1.5f, 2.f, 3.f}));
}

TEST(Numbers, MayBeNone) {
  EXPECT_TRUE(parse_numbers("mean", "").empty());
}

TEST(Numbers, NameThePartThatIsNone) {
  EXPECT_TRUE(has(thrown_by([&] { parse_numbers("mean", "1,x2,3"); }), "\"x2\" is not a number"));
}

TEST(Shapes, AreSizes) {
  EXPECT_EQ(parse_shape("input-shape", "[1, 3,640,640]"), (npu::Shape{1, 3, 640, 640}));
  EXPECT_TRUE(parse_shape("input-shape", "").empty());
  for (const char* wrong : {"1,0", "1,-1", "1,3.5", "1,99999999999", "1x"}) {
    EXPECT_THROW(parse_shape("input-shape", wrong), npu::Error) << wrong;
  }
}

TEST(Config, IsSplitAtCommas) {
  const std::map<std::string, std::string> expected = {{"A", "1"}, {"B", "x=y"}};
  EXPECT_EQ(parse_config("A=1,B=x=y"), expected);
}

TEST(Config, NeedsValues) {
  EXPECT_THROW(parse_config("A=1,B"), npu::Error);
}

TEST(CompileOptions, TakeNoIdOfACacheEntry) {
  Settings settings;
  settings.properties = "CACHE_DIR=/x CACHE_ID=a";
  EXPECT_TRUE(has(thrown_by([&] { compile_options(settings); }), "\"CACHE_ID\" is for programs"));
}

TEST(Requests, AreFourWhereNobodyAsks) {
  Settings settings;
  EXPECT_EQ(settings.requests(), 4u);
  settings.nireq = 7;
  EXPECT_EQ(settings.requests(), 7u);
}

TEST(OpensLike, WhatMayChangeWhilePlayingNeedsNothingOpenedAgain) {
  Settings opened, wanted;
  wanted.inference_interval = 5;
  wanted.zero_copy_required = true;
  EXPECT_TRUE(wanted.opens_like(opened));
  wanted.nireq = 3;
  EXPECT_FALSE(wanted.opens_like(opened));
}

}  // namespace
}  // namespace gstnpu
