#include <gst/gst.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <iostream>
#include <memory>

#include "support/run_tests.hpp"

#include "leak_check.hpp"

namespace {

/// Plays the pipeline until it ends. An error is printed, and makes the result 1.
int play(const char* line) {
  GstElement* pipeline = gst_parse_launch(line, nullptr);
  GstBus* bus = gst_element_get_bus(pipeline);
  gst_element_set_state(pipeline, GST_STATE_PLAYING);
  GstMessage* message = gst_bus_timed_pop_filtered(
      bus, GST_CLOCK_TIME_NONE, static_cast<GstMessageType>(GST_MESSAGE_EOS | GST_MESSAGE_ERROR));
  GError* error = nullptr;
  if (GST_MESSAGE_TYPE(message) == GST_MESSAGE_ERROR) {
    gst_message_parse_error(message, &error, nullptr);
    std::cout << error->message << '\n';
  }
  const int result = error ? 1 : 0;
  g_clear_error(&error);
  gst_message_unref(message);
  gst_element_set_state(pipeline, GST_STATE_NULL);
  gst_object_unref(bus);
  gst_object_unref(pipeline);
  return result;
}

}  // namespace

/// Where the leaks tracer runs, no test may leave objects of GStreamer behind. A test that needs a
/// pipeline in a process of its own starts this program again, with the variable.
int main(int argc, char** argv) {
  gst_init(&argc, &argv);
  if (const char* line = std::getenv("NPU_TEST_PIPELINE")) return play(line);
  testing::UnitTest::GetInstance()->listeners().Append(
      std::make_unique<gstnpu_test::LeakCheck>().release());  // gtest owns it
  return npu::test::run_tests(argc, argv);
}
