#include "stats_messages.hpp"

namespace gstnpu {

void StatsMessages::post_if_due(guint64 now_ns) {
  const guint64 interval_ns = guint64{live_.stats_interval_ms} * GST_MSECOND;
  guint64 posted_ns = posted_ns_;
  if (interval_ns == 0 || now_ns < posted_ns + interval_ns) return;
  if (posted_ns_.compare_exchange_strong(posted_ns, now_ns)) {  // only one thread posts
    post();
  }
}

void StatsMessages::post_last() {
  if (live_.stats_interval_ms != 0) {
    post();
  }
}

void StatsMessages::post() {
  GstStructure* stats = nullptr;
  g_object_get(element_, "stats", &stats, nullptr);
  gst_element_post_message(element_, gst_message_new_element(GST_OBJECT(element_), stats));
}

}  // namespace gstnpu
