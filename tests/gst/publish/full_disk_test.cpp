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

/// Frame number of a whole line, or of an element of an array.
guint64 frame_of(const std::string& line) {
  const std::string begin = "{\"frame\":";
  const std::string whole = line.ends_with(',') ? line.substr(0, line.size() - 1) : line;
  const bool is_whole = whole.starts_with(begin) && whole.ends_with("\"detections\":[]}");
  return is_whole ? std::stoull(whole.substr(begin.size())) : kNoFrame;
}

struct Row {
  const char* policy;
  const char* file_format;
};

/// A file on a disk of which the test says how full it is.
class FullDisk : public testing::TestWithParam<Row> {
 protected:
  void start(const std::string& more) {
    harness_.emplace("npupublish name=publish drain-time=60000 queue-size=100000 policy=" +
                         std::string(GetParam().policy) + " file-format=" + GetParam().file_format +
                         " location=" + file_ + " " + more,
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
  bool is_array() const { return GetParam().file_format == std::string("json"); }
  void end() {
    gst_harness_push_event(harness_->get(), gst_event_new_eos());
    EXPECT_EQ(harness_->message(GST_MESSAGE_ERROR), "");
  }

  /// Frame numbers of its lines, each of which is whole.
  std::vector<guint64> frames() const {
    std::istringstream text(folder_.read("out"));
    std::vector<guint64> found;
    for (std::string line; std::getline(text, line);) {
      if (is_array() && (line == "[" || line == "]")) continue;
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
  start("flush=true");
  push(10);
  ASSERT_TRUE(becomes([&] { return counts_of(*harness_).published == 10; }));
  leave_room(50);  // half a line
  push(20);
  ASSERT_TRUE(becomes([&] { return counts_of(*harness_).failed == 20; }));
  EXPECT_NE(harness_->message(GST_MESSAGE_WARNING).find("Lines are lost until that passes"),
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

// Lines are held back then, and many of them are written at once.
TEST_P(FullDisk, LosesAsManyLinesAsItCounts) {
  constexpr guint64 kFrames = 3000;  // more than are held back
  start("flush=false");
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

INSTANTIATE_TEST_SUITE_P(
    All, FullDisk,
    testing::Values(Row{"drop-old", "json-lines"}, Row{"drop-new", "json-lines"},
                    Row{"drop-old", "json"}, Row{"drop-new", "json"}),
    [](const auto& row) {
      const std::string policy(row.param.policy + 5);
      return policy + (row.param.file_format == std::string("json") ? "_array" : "_lines");
    });

}  // namespace
