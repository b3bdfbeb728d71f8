#include "publish_harness.hpp"

#include <chrono>
#include <thread>

namespace gstnpu_test {

bool becomes(const std::function<bool()>& is_so) {
  using Clock = std::chrono::steady_clock;
  const Clock::time_point end = Clock::now() + std::chrono::minutes(1);
  while (!is_so()) {
    if (Clock::now() > end) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  return true;
}

Failure take_error(GstBus* bus) {
  const Owned<GstMessage> message(gst_bus_pop_filtered(bus, GST_MESSAGE_ERROR));
  if (!message) return {};
  GError* error = nullptr;
  gst_message_parse_error(message.get(), &error, nullptr);
  Failure failure{error->domain, error->code, error->message};
  g_error_free(error);
  return failure;
}

Failure failure_of_start(const std::string& location, const std::string& more) {
  const std::string launch = "npupublish " + more;
  const Owned<GstElement> element(
      GST_ELEMENT(gst_object_ref_sink(gst_parse_launch(launch.c_str(), nullptr))));
  const Owned<GstBus> bus(gst_bus_new());
  gst_element_set_bus(element.get(), bus.get());
  g_object_set(element.get(), "location", location.c_str(), nullptr);
  EXPECT_EQ(gst_element_set_state(element.get(), GST_STATE_PAUSED), GST_STATE_CHANGE_FAILURE);
  const Failure failure = take_error(bus.get());
  gst_element_set_state(element.get(), GST_STATE_NULL);
  gst_element_set_bus(element.get(), nullptr);
  return failure;
}

Counts counts_of(ElementHarness& harness) {
  const Owned<GstElement> publish(gst_bin_get_by_name(GST_BIN(harness.element()), "publish"));
  GstStructure* stats = nullptr;
  g_object_get(publish.get(), "stats", &stats, nullptr);
  Counts counts;
  EXPECT_TRUE(gst_structure_get(stats, "published", G_TYPE_UINT64, &counts.published, "dropped",
                                G_TYPE_UINT64, &counts.dropped, "failed", G_TYPE_UINT64,
                                &counts.failed, "queued", G_TYPE_UINT64, &counts.queued, nullptr));
  gst_structure_free(stats);
  return counts;
}

}  // namespace gstnpu_test
