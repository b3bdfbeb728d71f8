// Frames whose lines cannot be written.
#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <functional>
#include <future>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

#include "gst/leak_check.hpp"
#include "gst/publish_harness.hpp"

namespace {

using namespace gstnpu_test;

[[maybe_unused]] const bool kNeedsTracer = need_tracer(__FILE__);
const char* const kCaps = "video/x-raw,format=NV12,width=640,height=480,framerate=30/1";

TEST(PublishFailure, OfOpeningNamesTheFile) {
  const Failure failure = failure_of_start("/nowhere/out.jsonl");
  EXPECT_EQ(failure.domain, GST_RESOURCE_ERROR);
  EXPECT_EQ(failure.code, GST_RESOURCE_ERROR_OPEN_WRITE);
  EXPECT_EQ(
      failure.text,
      "Cannot open \"/nowhere/out.jsonl\" for writing: No such file or directory. Set location "
      "to a file in a folder that exists and is writable.");
}

TEST(PublishFailure, OfAPipeThatNobodyReadsIsNotWaitedFor) {
  const TempFolder folder;
  ASSERT_EQ(::mkfifo(folder.file("pipe").c_str(), 0600), 0);
  EXPECT_EQ(failure_of_start(folder.file("pipe")).text,
            "Cannot open \"" + folder.file("pipe") +
                "\" for writing: nobody reads the pipe. Start its reader before the pipeline.");
}

TEST(PublishFailure, OfALocationThatIsNoneSaysWhatOneIs) {
  const std::string said = failure_of_start("tcp://localhost").text;
  EXPECT_NE(said.find("the location \"tcp://localhost\" has no port"), std::string::npos) << said;
  EXPECT_NE(said.find("write tcp://HOST:PORT"), std::string::npos) << said;
}

TEST(PublishFailure, OfABrokersConfigurationWithoutABroker) {
  const std::string said = failure_of_start("/dev/null", "broker-config=qos=1").text;
  EXPECT_NE(said.find("are for brokers, and the location is \"/dev/null\""), std::string::npos)
      << said;
}

// The number of a closed descriptor goes to the file that filesink opens.
TEST(PublishFailure, OfAStdoutThatIsClosedSpoilsNoOtherFile) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "gst-launch-1.0 is built without the sanitizer";
#endif
  const TempFolder folder;
  const std::string command =
      "gst-launch-1.0 -q videotestsrc num-buffers=3 ! video/x-raw,format=RGB,width=16,height=16 ! "
      "tee name=t ! queue ! filesink location=" +
      folder.file("video") + " t. ! queue ! npupublish >&- 2>" + folder.file("said");
  EXPECT_NE(std::system(command.c_str()), 0);
  const std::string said = folder.read("said");
  EXPECT_NE(said.find("the standard output is closed"), std::string::npos) << said;
  EXPECT_EQ(folder.read("video").find('{'), std::string::npos);
}

// It ended the process: write() sends a signal then.
TEST(PublishFailure, OfAPipeWhoseReaderWentStopsTheFlow) {
  const TempFolder folder;
  const std::string pipe = folder.file("pipe");
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  const int reader = ::open(pipe.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC);
  ASSERT_GE(reader, 0);
  ElementHarness harness("npupublish location=" + pipe, kCaps);
  EXPECT_EQ(harness.push(frame_with({})), GST_FLOW_OK);
  ::close(reader);
  EXPECT_TRUE(becomes([&] { return harness.push(frame_with({})) == GST_FLOW_ERROR; }));
  EXPECT_EQ(take_error(harness.bus()).text,
            "Cannot write detections to \"" + pipe +
                "\": nobody reads the pipe any more. Start its reader, then the pipeline.");
}

/// A pipe whose reader has stopped to read, and a frame that waits for it.
class FullPipe : public testing::Test {
 protected:
  void SetUp() override {
    ASSERT_EQ(::mkfifo(path_.c_str(), 0600), 0);
    reader_ = ::open(path_.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    ASSERT_GE(reader_, 0);
    harness_.emplace("npupublish location=" + path_, kCaps);
    pushing_ = std::async(std::launch::async, [this] {
      GstFlowReturn flow = GST_FLOW_OK;
      while (flow == GST_FLOW_OK) {
        flow = harness_->push(frame_with({}));
      }
      return flow;
    });
    const int writer = ::open(path_.c_str(), O_WRONLY | O_NONBLOCK | O_CLOEXEC);
    pollfd room{.fd = writer, .events = POLLOUT, .revents = 0};
    while (::poll(&room, 1, 0) > 0) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    ::close(writer);
    // A write may still find room in the last page.
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
  }
  /// Whether it ends, without anybody reading.
  bool ends(const std::function<void()>& work) {
    auto done = std::async(std::launch::async, work);
    const bool is_done = done.wait_for(std::chrono::seconds(20)) == std::future_status::ready;
    if (!is_done) {
      ::close(std::exchange(reader_, -1));  // the frame fails then
    }
    return is_done;
  }
  void TearDown() override {
    pushing_ = {};
    harness_.reset();
    ::close(reader_);
  }

  const TempFolder folder_;
  const std::string path_ = folder_.file("pipe");
  int reader_ = -1;
  std::optional<ElementHarness> harness_;
  std::future<GstFlowReturn> pushing_;
};

TEST_F(FullPipe, IsNotWaitedForByAStop) {
  EXPECT_TRUE(ends([this] { gst_element_set_state(harness_->element(), GST_STATE_NULL); }));
  EXPECT_EQ(pushing_.get(), GST_FLOW_FLUSHING);
  EXPECT_EQ(harness_->message(GST_MESSAGE_ERROR), "");
}

TEST_F(FullPipe, IsNotWaitedForByAFlush) {
  EXPECT_TRUE(ends([this] {
    gst_harness_push_event(harness_->get(), gst_event_new_flush_start());
    pushing_.wait();
    gst_harness_push_event(harness_->get(), gst_event_new_flush_stop(FALSE));
  }));
  EXPECT_EQ(pushing_.get(), GST_FLOW_FLUSHING);
  std::vector<char> lines(1 << 20);
  ASSERT_GT(::read(reader_, lines.data(), lines.size()), 0);
  GstSegment segment;
  gst_segment_init(&segment, GST_FORMAT_TIME);
  gst_harness_push_event(harness_->get(), gst_event_new_segment(&segment));
  EXPECT_EQ(harness_->push(frame_with({})), GST_FLOW_OK);
  ASSERT_TRUE(becomes([&] { return ::read(reader_, lines.data(), lines.size()) > 0; }));
  EXPECT_EQ(lines[0], '{') << "whole lines only";
}

TEST(PublishFailure, OfAFullDiskStopsTheFlow) {
  ElementHarness harness("npupublish location=/dev/full", kCaps);
  EXPECT_TRUE(becomes([&] { return harness.push(frame_with({})) == GST_FLOW_ERROR; }));
  const Failure failure = take_error(harness.bus());
  EXPECT_EQ(failure.domain, GST_RESOURCE_ERROR);
  EXPECT_EQ(failure.code, GST_RESOURCE_ERROR_NO_SPACE_LEFT);
  EXPECT_NE(failure.text.find("/dev/full"), std::string::npos);
  gst_harness_push_event(harness.get(), gst_event_new_eos());
  EXPECT_EQ(take_error(harness.bus()).text, "") << "not at the end of the stream again";
}

/// A pipe that takes nothing, with lines of others in it.
struct FilledPipe {
  FilledPipe() {
    EXPECT_EQ(::mkfifo(path.c_str(), 0600), 0);
    reader = ::open(path.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    writer = ::open(path.c_str(), O_WRONLY | O_NONBLOCK | O_CLOEXEC);
    while (::write(writer, (filling + "\n").data(), 100) > 0) {
    }
  }
  ~FilledPipe() {
    ::close(reader);
    ::close(writer);
  }
  FilledPipe(const FilledPipe&) = delete;
  FilledPipe& operator=(const FilledPipe&) = delete;

  const TempFolder folder;
  const std::string path = folder.file("pipe"), filling = std::string(99, '-');
  int reader = -1, writer = -1;
};

// gst-launch-1.0 reads no bus any more when Ctrl-C ends its wait for the last lines.
TEST(PublishFailure, LinesThatAStopLeavesBehindAreToldOutsideTheBus) {
  static std::string told;
  told.clear();
  const GLogFunc before = g_log_set_default_handler(
      [](const gchar*, GLogLevelFlags, const gchar* text, gpointer) { told += text; }, nullptr);
  const FilledPipe pipe;
  {
    ElementHarness harness("npupublish drain-time=0 location=" + pipe.path, kCaps);
    for (guint64 i = 0; i < 5; ++i) ASSERT_EQ(harness.push(frame_with({}, i)), GST_FLOW_OK);
    const auto end = std::async(
        std::launch::async, [&] { gst_harness_push_event(harness.get(), gst_event_new_eos()); });
    EXPECT_EQ(end.wait_for(std::chrono::milliseconds(300)), std::future_status::timeout);
    gst_element_set_state(harness.element(), GST_STATE_NULL);
  }
  g_log_set_default_handler(before, nullptr);
  EXPECT_NE(told.find("5 were not out when the stream ended"), std::string::npos) << told;
}

class Dropping : public testing::TestWithParam<const char*> {};

// A line may be on its way, two wait.
TEST_P(Dropping, NeitherStallsNorLosesCount) {
  constexpr guint64 kFrames = 1000;
  const FilledPipe pipe;
  {
    ElementHarness harness("npupublish name=publish queue-size=2 drain-time=50 policy=" +
                               std::string(GetParam()) + " location=" + pipe.path,
                           kCaps);
    for (guint64 i = 0; i < kFrames; ++i) {
      ASSERT_EQ(harness.push(frame_with({}, i)), GST_FLOW_OK);
    }
    const Counts counts = counts_of(harness);
    EXPECT_EQ(counts.published, 0u);
    EXPECT_LE(counts.queued, 3u);
    EXPECT_EQ(counts.dropped + counts.queued, kFrames);
    const std::string said = harness.message(GST_MESSAGE_WARNING);
    EXPECT_NE(said.find("are dropped (policy): 2 of them, or 64 MiB, wait already"),
              std::string::npos)
        << said;
    EXPECT_NE(said.find(", or queue-size larger"), std::string::npos) << said;
    EXPECT_EQ(harness.message(GST_MESSAGE_WARNING), "") << "once";
    ASSERT_EQ(gst_element_set_state(harness.element(), GST_STATE_NULL), GST_STATE_CHANGE_SUCCESS);
    EXPECT_NE(harness.message(GST_MESSAGE_WARNING).find("were not out when the stream ended"),
              std::string::npos);
    gst_harness_play(harness.get());
    gst_harness_set_src_caps_str(harness.get(), kCaps);
    for (guint64 i = 0; i < 5; ++i) ASSERT_EQ(harness.push(frame_with({}, i)), GST_FLOW_OK);
    EXPECT_NE(harness.message(GST_MESSAGE_WARNING).find("are dropped (policy)"), std::string::npos)
        << "once a start";
  }
  std::string text(1 << 20, '\0');
  text.resize(static_cast<std::size_t>(::read(pipe.reader, text.data(), text.size())));
  EXPECT_TRUE(text.ends_with(pipe.filling + "\n")) << "no part of a line";
}

TEST_P(Dropping, OutlivesAFullDisk) {
  ElementHarness harness("npupublish name=publish drain-time=60000 location=/dev/full policy=" +
                             std::string(GetParam()),
                         kCaps);
  for (int i = 0; i < 20; ++i) ASSERT_EQ(harness.push(frame_with({})), GST_FLOW_OK);
  gst_harness_push_event(harness.get(), gst_event_new_eos());
  EXPECT_EQ(counts_of(harness).failed, 20u);
  EXPECT_NE(harness.message(GST_MESSAGE_WARNING).find("Lines are lost until this passes"),
            std::string::npos);
  EXPECT_NE(harness.message(GST_MESSAGE_WARNING)
                .find("0 lines were written to \"/dev/full\"; of the others 20 failed"),
            std::string::npos);
  EXPECT_EQ(harness.message(GST_MESSAGE_WARNING), "") << "once";
  EXPECT_EQ(harness.message(GST_MESSAGE_ERROR), "");
}

INSTANTIATE_TEST_SUITE_P(Policies, Dropping, testing::Values("drop-old", "drop-new"),
                         [](const auto& row) { return std::string(row.param).substr(5); });

// One line may be on its way, and two are more than 64 MiB.
TEST(DroppedLines, AreToldWhereTheirBytesAreTheLimit) {
  const FilledPipe pipe;
  ElementHarness harness(
      "npupublish name=publish queue-size=1000 drain-time=0 policy=drop-new location=" + pipe.path +
          " stream-id=" + std::string(std::size_t{33} << 20, 'x'),
      kCaps);
  for (int i = 0; i < 4; ++i) ASSERT_EQ(harness.push(frame_with({})), GST_FLOW_OK);
  const std::string said = harness.message(GST_MESSAGE_WARNING);
  EXPECT_NE(said.find("are dropped (policy)"), std::string::npos) << said;
  EXPECT_GT(counts_of(harness).dropped, 0U);
}

// A file that may not grow, and no frame behind the one whose line fails.
TEST(PublishFailure, OfTheLastLineIsToldAtEos) {
  const TempFolder folder;
  ElementHarness harness("npupublish location=" + folder.file("out.jsonl"), kCaps);
  const FileSizeLimit limit(0);
  ASSERT_EQ(harness.push(frame_with({})), GST_FLOW_OK);
  gst_harness_push_event(harness.get(), gst_event_new_eos());
  const Failure failure = take_error(harness.bus());
  EXPECT_EQ(failure.code, GST_RESOURCE_ERROR_WRITE);
  EXPECT_NE(failure.text.find("File too large"), std::string::npos);
}

}  // namespace
