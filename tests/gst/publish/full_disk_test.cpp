// npupublish where policy drops, on a disk that is full for a while.
#include <algorithm>
#include <filesystem>
#include <optional>
#include <sstream>
#include <string>
#include <vector>

#include "gst/leak_check.hpp"
#include "gst/publish_harness.hpp"

namespace {

using namespace gstnpu_test;

[[maybe_unused]] const bool kNeedsTracer = need_tracer(__FILE__);
const char* const kCaps = "video/x-raw,format=NV12,width=640,height=480,framerate=30/1";
constexpr guint64 kNoFrame = G_MAXUINT64;

/// Frame number of a whole line.
guint64 frame_of(const std::string& line) {
  const std::string begin = "{\"frame\":";
  const bool is_whole = line.starts_with(begin) && line.ends_with("\"detections\":[]}");
  return is_whole ? std::stoull(line.substr(begin.size())) : kNoFrame;
}

/// A file on a disk of which the test says how full it is.
class FullDisk : public testing::TestWithParam<const char*> {
 protected:
  void start() {
    harness_.emplace("npupublish name=publish drain-time=60000 queue-size=100000 policy=" +
                         std::string(GetParam()) + " location=" + file_,
                     kCaps);
  }
  void push(guint64 frames) {
    for (guint64 i = 0; i < frames; ++i) {
      ASSERT_EQ(harness_->push(frame_with({}, pushed_++)), GST_FLOW_OK);
      harness_->pull();
    }
  }
  /// The disk takes so many bytes more.
  void leave_room(std::uintmax_t bytes) {
    full_.emplace(std::filesystem::file_size(file_) + bytes);
  }
  void make_room() { full_.reset(); }
  void end() {
    gst_harness_push_event(harness_->get(), gst_event_new_eos());
    EXPECT_EQ(harness_->message(GST_MESSAGE_ERROR), "");
  }

  /// Frame numbers of its lines, each of which is whole.
  std::vector<guint64> frames() const {
    std::istringstream text(folder_.read("out"));
    std::vector<guint64> found;
    for (std::string line; std::getline(text, line);) {
      found.push_back(frame_of(line));
    }
    return found;
  }

  const TempFolder folder_;
  const std::string file_ = folder_.file("out");
  std::optional<ElementHarness> harness_;
  std::optional<FileSizeLimit> full_;
  guint64 pushed_ = 0;
};

TEST_P(FullDisk, ThatHasRoomAgainTakesTheLinesThatCome) {
  start();
  push(10);
  ASSERT_TRUE(becomes([&] { return counts_of(*harness_).published == 10; }));
  leave_room(50);  // half a line
  push(20);
  ASSERT_TRUE(becomes([&] { return counts_of(*harness_).failed == 20; }));
  EXPECT_NE(harness_->message(GST_MESSAGE_WARNING).find("Lines are lost until this passes"),
            std::string::npos);
  make_room();
  push(10);
  end();
  const Counts counts = counts_of(*harness_);
  EXPECT_EQ(counts.published, 20U);
  EXPECT_EQ(counts.failed, 20U);
  EXPECT_EQ(counts.dropped, 0U);
  std::vector<guint64> expected;
  for (guint64 i = 0; i < 10; ++i) expected.push_back(i);
  for (guint64 i = 30; i < 40; ++i) expected.push_back(i);
  EXPECT_EQ(frames(), expected);
  EXPECT_EQ(harness_->message(GST_MESSAGE_WARNING), "") << "once";
}

TEST_P(FullDisk, LosesAsManyLinesAsItCounts) {
  constexpr guint64 kFrames = 3000;
  start();
  leave_room(100'000);  // which is no whole number of lines
  push(kFrames);
  ASSERT_TRUE(becomes([&] { return counts_of(*harness_).failed > 0; }));
  make_room();
  push(kFrames);
  end();
  const Counts counts = counts_of(*harness_);
  EXPECT_EQ(counts.published + counts.failed, 2 * kFrames);
  const std::vector<guint64> written = frames();
  EXPECT_EQ(written.size(), counts.published);
  EXPECT_TRUE(std::is_sorted(written.begin(), written.end()));
  EXPECT_EQ(std::adjacent_find(written.begin(), written.end()), written.end()) << "none twice";
  EXPECT_EQ(written.front(), 0U);
  EXPECT_EQ(written.back(), 2 * kFrames - 1);
}

INSTANTIATE_TEST_SUITE_P(All, FullDisk, testing::Values("drop-old", "drop-new"),
                         [](const auto& row) { return std::string(row.param).substr(5); });

}  // namespace
