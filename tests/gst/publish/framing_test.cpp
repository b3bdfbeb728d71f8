// Separators between two frames, at each of npupublish's outputs and in each of its formats.
#include <fcntl.h>
#include <gst/video/gstvideometa.h>
#include <sys/stat.h>

#include <algorithm>
#include <future>
#include <nlohmann/json.hpp>
#include <sstream>

#include "gst/leak_check.hpp"
#include "gst/publish_harness.hpp"
#include "sinks/listener.hpp"
#include "sinks/mosquitto.hpp"

namespace {

using namespace gstnpu_test;

[[maybe_unused]] const bool kNeedsTracer = need_tracer(__FILE__);
constexpr int kFrames = 3;

struct Row {
  const char* name;
  const char* properties;
};

class Framing : public testing::TestWithParam<Row> {
 protected:
  /// Frames with what is not ASCII, and with the end of a line in a text.
  void publish(const std::string& location, const std::string& more = {}) const {
    ElementHarness harness(
        "npupublish location=" + location + " stream-id=gate " + GetParam().properties + more,
        "video/x-raw,format=NV12,width=640,height=480,framerate=30/1");
    for (guint i = 0; i < kFrames; ++i) {
      Owned<GstBuffer> frame =
          frame_with({yolo_tensor({{100, 50, 40, 20, 0.25F, 0.75F}})}, i * GST_SECOND);
      gst_buffer_add_video_region_of_interest_meta(frame.get(), "caf\xC3\xA9\nbar", 80, 40, 40, 20);
      ASSERT_EQ(harness.push(std::move(frame)), GST_FLOW_OK) << harness.message(GST_MESSAGE_ERROR);
    }
    gst_harness_push_event(harness.get(), gst_event_new_eos());
  }
  /// Text that a file gets; all other outputs are compared with it.
  std::string text_of_file(const std::string& more = {}) const {
    const TempFolder folder;
    publish(folder.file("out"), more);
    return folder.read("out");
  }
  std::vector<std::string> lines_of_file() const {
    std::vector<std::string> lines;
    std::istringstream text(text_of_file());
    for (std::string line; std::getline(text, line);) lines.push_back(line);
    return lines;
  }
};

TEST_P(Framing, OfAFileIsALineForEachFrame) {
  const std::string text = text_of_file();
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), kFrames);
  EXPECT_TRUE(text.ends_with('\n'));
  for (const std::string& line : lines_of_file()) {
    EXPECT_TRUE(nlohmann::json::parse(line).is_object()) << line;
  }
}

TEST_P(Framing, OfASocketIsALineForEachFrame) {
  const TempFolder folder;
  const Listener tcp, path(folder.file("socket"));
  for (const Listener* listener : {&tcp, &path}) {
    auto text = std::async(std::launch::async, [listener] {
      const int reader = listener->accept();
      std::string all = read_from(reader, std::size_t{1} << 20);
      ::close(reader);
      return all;
    });
    publish(listener->location());
    EXPECT_EQ(text.get(), text_of_file()) << listener->location();
  }
}

TEST_P(Framing, OfAPipeIsALineForEachFrame) {
  const TempFolder folder;
  const std::string path = folder.file("pipe");
  ASSERT_EQ(::mkfifo(path.c_str(), 0600), 0);
  const int reader = ::open(path.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC);
  publish(path);
  EXPECT_EQ(read_from(reader, std::size_t{1} << 20), text_of_file());
  ::close(reader);
}

TEST_P(Framing, WithMqttIsAMessageForEachFrame) {
  if (!knows_broker("mqtt") || !Mosquitto::is_installed()) {
    GTEST_SKIP() << "the plugin was built without MQTT, or mosquitto, mosquitto-clients or openssl "
                    "are not installed";
  }
  Mosquitto broker;
  broker.start();
  const Subscriber subscriber(broker, "t", 1, {"-F", "%x"});  // as hexadecimal numbers
  publish(broker.location("t"));
  EXPECT_TRUE(becomes([&] { return subscriber.lines().size() >= kFrames; }));
  std::vector<std::string> messages;
  for (const std::string& line : subscriber.lines()) {
    std::string bytes;
    for (std::size_t i = 0; i < line.size(); i += 2) {
      bytes += static_cast<char>(std::stoi(line.substr(i, 2), nullptr, 16));
    }
    messages.push_back(bytes);
  }
  EXPECT_EQ(messages, lines_of_file());
}

INSTANTIATE_TEST_SUITE_P(All, Framing,
                         testing::Values(Row{"ours", ""}, Row{"ours_with_tensors", "tensors=true"},
                                         Row{"dlstreamer", "format=dlstreamer"},
                                         Row{"dlstreamer_with_tensors",
                                             "format=dlstreamer tensors=true"}),
                         [](const auto& row) { return std::string(row.param.name); });

}  // namespace
