#include "trace/trace_options.hpp"

#include <gtest/gtest.h>

#include "support/expect.hpp"

namespace gstnpu {
namespace {

TEST(TraceOptions, NoneAreFine) {
  for (const char* none : {static_cast<const char*>(nullptr), ""}) {
    const TraceOptions options = parse_trace_options(none);
    EXPECT_EQ(options.interval_us, 0);
    EXPECT_EQ(options.complaint, "");
  }
}

TEST(TraceOptions, IntervalIsANumberOfSeconds) {
  EXPECT_EQ(parse_trace_options("interval=2").interval_us, 2'000'000);
  EXPECT_EQ(parse_trace_options("interval=0.25").interval_us, 250'000);
  EXPECT_EQ(parse_trace_options("interval=2").complaint, "");
}

// Not 0, which is none.
TEST(TraceOptions, ShortestIntervalIsAMicrosecond) {
  EXPECT_EQ(parse_trace_options("interval=0.0000001").interval_us, 1);
}

struct Bad {
  const char* params;
  const char* complaint;  // a part of it
};

class BadTraceOptions : public testing::TestWithParam<Bad> {};

TEST_P(BadTraceOptions, AreToldAndLeftOut) {
  const TraceOptions options = parse_trace_options(GetParam().params);
  EXPECT_EQ(options.interval_us, 0);
  EXPECT_TRUE(has(options.complaint, GetParam().complaint));
  EXPECT_TRUE(has(options.complaint, "npu(interval=2)"));
}

INSTANTIATE_TEST_SUITE_P(All, BadTraceOptions,
                         testing::Values(Bad{"interval=0", "no number of seconds above 0"},
                                         Bad{"interval=-1", "no number of seconds above 0"},
                                         Bad{"interval=1e300", "no number of seconds above 0"},
                                         Bad{"interval=soon", "no number of seconds above 0"},
                                         Bad{"speed=2", "no parameter \"speed\""},
                                         Bad{"=", "cannot be read: ="}));

}  // namespace
}  // namespace gstnpu
