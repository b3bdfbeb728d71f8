#include <gst/gst.h>
#include <gtest/gtest.h>

#include <memory>

#include "support/run_tests.hpp"

#include "leak_check.hpp"

/// Where the leaks tracer runs, no test may leave objects of GStreamer behind.
int main(int argc, char** argv) {
  gst_init(&argc, &argv);
  testing::UnitTest::GetInstance()->listeners().Append(
      std::make_unique<gstnpu_test::LeakCheck>().release());  // gtest owns it
  return npu::test::run_tests(argc, argv);
}
