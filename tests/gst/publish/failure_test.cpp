// Frames whose lines cannot be written.
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <functional>
#include <future>
#include <optional>
#include <sstream>
#include <thread>
#include <utility>
#include <vector>

#include "gst/leak_check.hpp"
#include "gst/publish_harness.hpp"

namespace failure_test {
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

TEST(PublishFailure, OfABrokersConfigurationWithoutABroker) {
  const std::string said = failure_of_start("/dev/null", "broker-config=qos=1").text;
  EXPECT_TRUE(has(said, "are for brokers, and the location is \"/dev/null\""));
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
  EXPECT_TRUE(has(said, "the standard output is closed"));
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

/// A frame that waits for room in front of a pipe.
class WaitingFrame : public testing::Test {
 protected:
  void SetUp() override {
    ASSERT_EQ(harness_->push(frame_with({})), GST_FLOW_OK);
    pushing_ = std::async(std::launch::async, [this] {
      GstFlowReturn flow = GST_FLOW_OK;
      while (flow == GST_FLOW_OK) {
        flow = harness_->push(frame_with({}));
      }
      return flow;
    });
    // The queue is full then; the frame behind it is about to wait.
    EXPECT_TRUE(becomes([this] { return counts_of(*harness_).queued == 2; }));
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
  }
  /// Whether it ends, without anybody reading.
  bool ends(const std::function<void()>& work) {
    auto done = std::async(std::launch::async, work);
    const bool is_done = done.wait_for(std::chrono::seconds(20)) == std::future_status::ready;
    if (!is_done) {
      ::close(std::exchange(pipe_.reader, -1));  // the frame fails then
    }
    return is_done;
  }
  void TearDown() override {
    pushing_ = {};
    harness_.reset();
  }

  FilledPipe pipe_;
  std::optional<ElementHarness> harness_{
      std::in_place, "npupublish name=publish queue-size=1 location=" + pipe_.path, kCaps};
  std::future<GstFlowReturn> pushing_;
};

TEST_F(WaitingFrame, IsNotWaitedForByAStop) {
  EXPECT_TRUE(ends([this] { gst_element_set_state(harness_->element(), GST_STATE_NULL); }));
  EXPECT_EQ(pushing_.get(), GST_FLOW_FLUSHING);
  EXPECT_EQ(harness_->message(GST_MESSAGE_ERROR), "");
}

TEST_F(WaitingFrame, IsNotWaitedForByAFlush) {
  EXPECT_TRUE(ends([this] {
    gst_harness_push_event(harness_->get(), gst_event_new_flush_start());
    pushing_.wait();
    gst_harness_push_event(harness_->get(), gst_event_new_flush_stop(FALSE));
  }));
  EXPECT_EQ(pushing_.get(), GST_FLOW_FLUSHING);
  std::vector<char> lines(1 << 20);
  ASSERT_GT(::read(pipe_.reader, lines.data(), lines.size()), 0);
  GstSegment segment;
  gst_segment_init(&segment, GST_FORMAT_TIME);
  gst_harness_push_event(harness_->get(), gst_event_new_segment(&segment));
  EXPECT_EQ(harness_->push(frame_with({})), GST_FLOW_OK);
  ASSERT_TRUE(becomes([&] { return ::read(pipe_.reader, lines.data(), lines.size()) > 0; }));
  EXPECT_EQ(lines[0], '{') << "whole lines only";
}

TEST(PublishFailure, OfAFullDiskStopsTheFlow) {
  ElementHarness harness("npupublish location=/dev/full", kCaps);
  EXPECT_TRUE(becomes([&] { return harness.push(frame_with({})) == GST_FLOW_ERROR; }));
  const Failure failure = take_error(harness.bus());
  EXPECT_EQ(failure.domain, GST_RESOURCE_ERROR);
  EXPECT_EQ(failure.code, GST_RESOURCE_ERROR_NO_SPACE_LEFT);
  EXPECT_TRUE(has(failure.text, "/dev/full"));
  gst_harness_push_event(harness.get(), gst_event_new_eos());
  EXPECT_EQ(take_error(harness.bus()).text, "") << "not at the end of the stream again";
}

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
  EXPECT_TRUE(has(told, "5 were not out when the stream ended"));
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
    EXPECT_TRUE(has(said, "are dropped (policy): 2 of them wait already"));
    EXPECT_TRUE(has(said, ", or queue-size larger"));
    EXPECT_EQ(harness.message(GST_MESSAGE_WARNING), "") << "once";
    ASSERT_EQ(gst_element_set_state(harness.element(), GST_STATE_NULL), GST_STATE_CHANGE_SUCCESS);
    EXPECT_TRUE(has(harness.message(GST_MESSAGE_WARNING), "were not out when the stream ended"));
  }
  std::string text(1 << 20, '\0');
  text.resize(static_cast<std::size_t>(::read(pipe.reader, text.data(), text.size())));
  EXPECT_TRUE(text.ends_with(pipe.filling + "\n")) << "no part of a line";
}

// The file has room for some lines and a half, later for all.
TEST_P(Dropping, LosesAsManyLinesAsItTellsOnAFullDisk) {
  constexpr guint64 kFrames = 1000;
  const TempFolder folder;
  ElementHarness harness("npupublish name=publish drain-time=60000 queue-size=100000 policy=" +
                             std::string(GetParam()) + " location=" + folder.file("out"),
                         kCaps);
  const auto push = [&](guint64 first) {
    for (guint64 i = 0; i < kFrames; ++i) {
      ASSERT_EQ(harness.push(frame_with({}, first + i)), GST_FLOW_OK);
    }
  };
  {
    const FileSizeLimit limit(10'050);
    push(0);
    ASSERT_TRUE(becomes([&] { return counts_of(harness).failed > 0; }));
  }
  push(kFrames);
  gst_harness_push_event(harness.get(), gst_event_new_eos());
  EXPECT_TRUE(has(harness.message(GST_MESSAGE_WARNING), "Lines are lost until this passes"));
  const Counts counts = counts_of(harness);
  EXPECT_EQ(counts.published + counts.failed, 2 * kFrames);
  EXPECT_TRUE(has(harness.message(GST_MESSAGE_WARNING),
                  std::to_string(counts.published) + " lines were written to \"" +
                      folder.file("out") + "\"; of the others " + std::to_string(counts.failed) +
                      " failed"));
  EXPECT_EQ(harness.message(GST_MESSAGE_WARNING), "") << "once";
  EXPECT_EQ(harness.message(GST_MESSAGE_ERROR), "");
  std::istringstream text(folder.read("out"));
  std::vector<guint64> written;
  for (std::string line; std::getline(text, line);) {
    ASSERT_TRUE(line.starts_with("{\"frame\":") && line.ends_with("\"detections\":[]}")) << line;
    written.push_back(std::stoull(line.substr(line.find(':') + 1)));
  }
  EXPECT_EQ(written.size(), counts.published);
  EXPECT_TRUE(std::is_sorted(written.begin(), written.end()));
  EXPECT_EQ(std::adjacent_find(written.begin(), written.end()), written.end()) << "none twice";
  EXPECT_EQ(written.front(), 0U);
  EXPECT_EQ(written.back(), 2 * kFrames - 1);
}

INSTANTIATE_TEST_SUITE_P(Policies, Dropping, testing::Values("drop-old", "drop-new"),
                         [](const auto& row) { return std::string(row.param).substr(5); });

// A file that may not grow, and no frame behind the one whose line fails.
TEST(PublishFailure, OfTheLastLineIsToldAtEos) {
  const TempFolder folder;
  ElementHarness harness("npupublish location=" + folder.file("out.jsonl"), kCaps);
  const FileSizeLimit limit(0);
  ASSERT_EQ(harness.push(frame_with({})), GST_FLOW_OK);
  gst_harness_push_event(harness.get(), gst_event_new_eos());
  const Failure failure = take_error(harness.bus());
  EXPECT_EQ(failure.code, GST_RESOURCE_ERROR_WRITE);
  EXPECT_TRUE(has(failure.text, "File too large"));
}

}  // namespace
}  // namespace failure_test
