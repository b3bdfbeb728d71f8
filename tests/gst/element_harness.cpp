#include "element_harness.hpp"

#include <meta/npumeta.h>

#include <algorithm>
#include <filesystem>
#include <stdexcept>

namespace gstnpu::test {
namespace {

std::string text_of(GstMessage* message) {
  GError* error = nullptr;
  gchar* text = nullptr;
  if (GST_MESSAGE_TYPE(message) == GST_MESSAGE_ERROR) {
    gst_message_parse_error(message, &error, nullptr);
  } else if (GST_MESSAGE_TYPE(message) == GST_MESSAGE_WARNING) {
    gst_message_parse_warning(message, &error, nullptr);
  } else if (GST_MESSAGE_TYPE(message) == GST_MESSAGE_PROGRESS) {
    gst_message_parse_progress(message, nullptr, nullptr, &text);
  }
  const std::string found = error ? error->message : text ? text : "";
  g_clear_error(&error);
  g_free(text);
  return found;
}

std::size_t entries_of(const char* folder) {
  std::size_t count = 0;
  for ([[maybe_unused]] const auto& entry : std::filesystem::directory_iterator(folder)) ++count;
  return count;
}

}  // namespace

Configure with(Configure configure,
               const std::vector<std::pair<std::string, std::string>>& properties) {
  return [configure = std::move(configure), properties](GstElement* element) {
    configure(element);
    for (const auto& [name, value] : properties) {
      gst_util_set_object_arg(G_OBJECT(element), name.c_str(), value.c_str());
    }
  };
}

ElementHarness::ElementHarness(const char* factory, const Configure& configure,
                               const std::string& caps)
    : element_(gst_element_factory_make(factory, nullptr)), bus_(gst_bus_new()) {
  if (!element_) throw std::runtime_error(std::string("no element ") + factory);
  gst_object_ref_sink(element_);
  gst_element_set_bus(element_, bus_);
  if (configure) {
    configure(element_);
  }
  harness_ = gst_harness_new_with_element(element_, "sink", "src");
  if (!caps.empty()) {
    set_caps(caps);
  }
}

ElementHarness::~ElementHarness() {
  gst_harness_teardown(harness_);
  gst_element_set_bus(element_, nullptr);
  gst_object_unref(element_);
  gst_object_unref(bus_);
}

void ElementHarness::set_caps(const std::string& caps) {
  gst_harness_set_src_caps_str(harness_, caps.c_str());
}

BufferRef ElementHarness::pull() {
  return BufferRef(gst_harness_pull(harness_));
}

void ElementHarness::drain() {
  GstQuery* query = gst_query_new_drain();
  gst_pad_peer_query(harness_->srcpad, query);
  gst_query_unref(query);
}

guint64 ElementHarness::stat(const char* field) const {
  return stat_of(element_, field);
}

std::string ElementHarness::stat_text(const char* field) const {
  GstStructure* stats = nullptr;
  g_object_get(element_, "stats", &stats, nullptr);
  const gchar* text = gst_structure_get_string(stats, field);
  const std::string found = text ? text : "";
  gst_structure_free(stats);
  return found;
}

std::size_t ElementHarness::compilations() const {
  const std::vector<std::string> told = messages(GST_MESSAGE_PROGRESS);
  return static_cast<std::size_t>(
      std::count_if(told.begin(), told.end(),
                    [](const std::string& text) { return text.starts_with("compiled "); }));
}

std::vector<std::string> ElementHarness::messages(GstMessageType type) const {
  return take_messages(bus_, type);
}

std::string ElementHarness::only_message(GstMessageType type) const {
  const std::vector<std::string> told = messages(type);
  EXPECT_EQ(told.size(), 1u);
  return told.empty() ? "" : told[0];
}

bool soon(const std::function<bool()>& is_so) {
  constexpr gint64 kPatienceUs = 30 * G_USEC_PER_SEC;
  const gint64 end = g_get_monotonic_time() + kPatienceUs;
  while (!is_so()) {
    if (g_get_monotonic_time() > end) return false;
    g_usleep(1000);
  }
  return true;
}

guint64 stat_of(GstElement* element, const char* field) {
  GstStructure* stats = nullptr;
  g_object_get(element, "stats", &stats, nullptr);
  guint64 value = G_MAXUINT64;
  gst_structure_get_uint64(stats, field, &value);
  gst_structure_free(stats);
  return value;
}

std::vector<std::string> take_messages(GstBus* bus, GstMessageType type) {
  std::vector<std::string> texts;
  while (GstMessage* message = gst_bus_pop_filtered(bus, type)) {
    texts.push_back(text_of(message));
    gst_message_unref(message);
  }
  return texts;
}

std::vector<std::string> errors_before_ready(const char* factory, const Configure& configure) {
  const ObjectRef<GstElement> element(
      GST_ELEMENT(gst_object_ref_sink(gst_element_factory_make(factory, nullptr))));
  const ObjectRef<GstBus> bus(gst_bus_new());
  gst_element_set_bus(element.get(), bus.get());
  configure(element.get());
  gst_element_set_state(element.get(), GST_STATE_READY);
  const auto errors = take_messages(bus.get(), GST_MESSAGE_ERROR);
  gst_element_set_state(element.get(), GST_STATE_NULL);
  gst_element_set_bus(element.get(), nullptr);
  return errors;
}

std::string caps_of(const char* format, int width, int height) {
  return std::string("video/x-raw,format=") + format + ",width=" + std::to_string(width) +
         ",height=" + std::to_string(height) + ",framerate=30/1";
}

BufferRef frame_of(const char* format, int width, int height, guint8 fill, guint index) {
  GstVideoInfo info;
  gst_video_info_set_format(&info, gst_video_format_from_string(format), static_cast<guint>(width),
                            static_cast<guint>(height));
  BufferRef buffer(gst_buffer_new_allocate(nullptr, GST_VIDEO_INFO_SIZE(&info), nullptr));
  gst_buffer_memset(buffer.get(), 0, fill, GST_VIDEO_INFO_SIZE(&info));
  GST_BUFFER_PTS(buffer.get()) = gst_util_uint64_scale(index, GST_SECOND, 30);
  GST_BUFFER_DURATION(buffer.get()) = GST_SECOND / 30;
  return buffer;
}

bool driver_takes_strides() {
  return g_getenv("SOFTNPU_GRAPH_EXT_VERSION") == nullptr &&
         g_strcmp0(g_getenv("SOFTNPU_PLATFORM"), "3720") != 0;
}

std::size_t open_descriptors() {
  return entries_of("/proc/self/fd");
}
std::size_t running_threads() {
  return entries_of("/proc/self/task");
}

}  // namespace gstnpu::test
