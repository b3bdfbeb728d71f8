// npupublish where nobody takes its lines for long: the heap has its size soon, whatever the number
// of frames.
#include <fcntl.h>
#include <malloc.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "gst/publish_harness.hpp"
#include "sinks/listener.hpp"
#include "sinks/loopback.hpp"

namespace {

using namespace gstnpu_test;

const char* const kCaps = "video/x-raw,format=NV12,width=640,height=480,framerate=30/1";
constexpr guint64 kQueueSize = 100, kWarmUp = 5000, kFrames = 20000;
constexpr std::ptrdiff_t kLittle = std::ptrdiff_t{256} << 10;  // far less than as many lines

/// Bytes that malloc has given out and not got back, all arenas together.
std::ptrdiff_t heap_bytes() {
  const auto info = ::mallinfo2();
  return static_cast<std::ptrdiff_t>(info.uordblks + info.hblkhd);
}

/// A place where lines could go, while this lives.
class Nowhere {
 public:
  explicit Nowhere(const std::string& kind) : kind_(kind), folder_(), listener_(), pipe_(-1) {
    if (kind != "pipe") return;
    EXPECT_EQ(::mkfifo(folder_.file("pipe").c_str(), 0600), 0);
    pipe_ = ::open(folder_.file("pipe").c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC);
  }
  ~Nowhere() {
    if (pipe_ >= 0) {
      ::close(pipe_);
    }
  }
  Nowhere(const Nowhere&) = delete;
  Nowhere& operator=(const Nowhere&) = delete;

  std::string location() const {
    const std::string dead = "127.0.0.1:" + std::to_string(port_.number());
    const std::string silent = "127.0.0.1:" + std::to_string(listener_.port());
    if (kind_ == "pipe") return folder_.file("pipe");
    if (kind_ == "unix") return "unix:" + folder_.file("socket");
    if (kind_ == "tcp") return "tcp://" + dead;
    if (kind_ == "silent_tcp") return "tcp://" + silent;
    const bool is_silent = kind_.starts_with("silent_");
    return kind_.substr(is_silent ? 7 : 0) + "://" + (is_silent ? silent : dead) + "/t";
  }

 private:
  const std::string kind_;
  const TempFolder folder_;
  const ReservedPort port_;
  const Listener listener_;  // takes connections, and says and reads nothing
  int pipe_;                 // a reader that does not read
};

struct Row {
  const char* kind;
  const char* policy;
  const char* more = "";
};

void push(ElementHarness& harness, guint64 frames) {
  for (guint64 i = 0; i < frames; ++i) {
    ASSERT_EQ(harness.push(frame_with({}, i)), GST_FLOW_OK);
    ASSERT_NE(harness.pull(), nullptr);
  }
}

bool has_broker(const std::string& kind) {
  const char* known = std::getenv("NPU_BROKERS");
  for (const std::string broker : {"mqtt", "kafka"}) {
    if (kind.ends_with(broker)) {
      return known && std::string(known).find(broker) != std::string::npos;
    }
  }
  return true;
}

class Outage : public testing::TestWithParam<Row> {};

TEST_P(Outage, CostsNoMemoryForEachFrame) {
  const auto& [kind, policy, more] = GetParam();
  if (!has_broker(kind)) {
    GTEST_SKIP() << "the plugin was built without " << kind;
  }
  const Nowhere nowhere(kind);
  ElementHarness harness(
      "npupublish name=publish drain-time=0 queue-size=" + std::to_string(kQueueSize) +
          " policy=" + policy + " location=" + nowhere.location() + " " + more,
      kCaps);
  gst_harness_set_live(harness.get(), FALSE);  // else messages of the latency stay on its bus
  push(harness, kWarmUp);
  guint64 pushed = kWarmUp + kFrames;
  EXPECT_TRUE(becomes([&] {
    push(harness, 1);
    ++pushed;
    return !harness.message(GST_MESSAGE_WARNING).empty();
  })) << "that lines are dropped";
  const std::ptrdiff_t before = heap_bytes();
  push(harness, kFrames);
  EXPECT_LT(heap_bytes() - before, kLittle);
  const Counts counts = counts_of(harness);
  EXPECT_LE(counts.queued, 11 * kQueueSize);
  // The kernel takes some for a reader that does not read, megabytes where it is a socket.
  EXPECT_EQ(counts.published + counts.dropped + counts.queued, pushed);
  EXPECT_GT(counts.dropped, 0U);
  EXPECT_EQ(counts.failed, 0U);
  EXPECT_EQ(harness.message(GST_MESSAGE_ERROR), "");
}

INSTANTIATE_TEST_SUITE_P(All, Outage,
                         testing::Values(Row{"unix", "drop-old"}, Row{"tcp", "drop-old"},
                                         Row{"tcp", "drop-new"}, Row{"silent_tcp", "drop-old"},
                                         Row{"pipe", "drop-old"}, Row{"pipe", "drop-new"},
                                         Row{"mqtt", "drop-old"}, Row{"mqtt", "drop-new"},
                                         Row{"mqtt", "drop-old", "mqtt-qos=2"},
                                         Row{"silent_mqtt", "drop-old"}, Row{"kafka", "drop-old"},
                                         Row{"kafka", "drop-new"}, Row{"silent_kafka", "drop-old"}),
                         [](const auto& row) {
                           const std::string policy(row.param.policy + 5);
                           const std::string more(row.param.more);
                           return row.param.kind + ("_" + policy) + (more.empty() ? "" : "_qos2");
                         });

// Else the tests above would say nothing.
TEST(OutageMeasure, SeesSixteenBytesAFrame) {
  std::vector<std::unique_ptr<char[]>> kept;
  kept.reserve(kFrames);
  const std::ptrdiff_t before = heap_bytes();
  for (guint64 i = 0; i < kFrames; ++i) kept.push_back(std::make_unique<char[]>(16));
  EXPECT_GT(heap_bytes() - before, kLittle);
}

}  // namespace
