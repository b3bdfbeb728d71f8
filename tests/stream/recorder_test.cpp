// Clips of events, from real pipelines on the software NPU.
#include "run/recorder.hpp"

#include <gst/gst.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <future>
#include <memory>

#include "run/clip.hpp"
#include "run/launch_line.hpp"
#include "support/temp_dir.hpp"

namespace npustream {
namespace {

namespace fs = std::filesystem;

std::string shapes() {
  return std::getenv("NPU_SHAPES_FOLDER");
}

constexpr GstClockTime kLongestGroup = GST_SECOND;  // of the clip, between key frames

struct Seen {
  GstClockTime time;
  std::string sum;  // of the pixels
};

void run_to_end(GstElement* pipeline) {
  gst_element_set_state(pipeline, GST_STATE_PLAYING);
  GstBus* const bus = gst_element_get_bus(pipeline);
  GstMessage* const last = gst_bus_timed_pop_filtered(
      bus, GST_CLOCK_TIME_NONE, static_cast<GstMessageType>(GST_MESSAGE_EOS | GST_MESSAGE_ERROR));
  EXPECT_EQ(GST_MESSAGE_TYPE(last), GST_MESSAGE_EOS);
  gst_message_unref(last);
  gst_object_unref(bus);
  gst_element_set_state(pipeline, GST_STATE_NULL);
}

/// All frames of a video.
std::vector<Seen> decoded(const fs::path& file) {
  GError* error = nullptr;
  GstElement* const pipeline = gst_parse_launch(
      ("filesrc location=\"" + file.string() +
       "\" ! decodebin ! videoconvert ! video/x-raw,format=I420 ! fakesink name=end sync=false "
       "signal-handoffs=true")
          .c_str(),
      &error);
  EXPECT_EQ(error, nullptr);
  std::vector<Seen> frames;
  GstElement* const end = gst_bin_get_by_name(GST_BIN(pipeline), "end");
  const auto note = +[](GstElement*, GstBuffer* buffer, GstPad*, gpointer data) {
    GstMapInfo map;
    ASSERT_TRUE(gst_buffer_map(buffer, &map, GST_MAP_READ));
    gchar* const sum = g_compute_checksum_for_data(G_CHECKSUM_SHA256, map.data, map.size);
    static_cast<std::vector<Seen>*>(data)->push_back({GST_BUFFER_PTS(buffer), sum});
    g_free(sum);
    gst_buffer_unmap(buffer, &map);
  };
  g_signal_connect(end, "handoff", G_CALLBACK(note), &frames);
  run_to_end(pipeline);
  gst_object_unref(end);
  gst_object_unref(pipeline);
  return frames;
}

class RecorderTest : public testing::Test {
 protected:
  struct Told {
    std::string kind, text, clip;
  };

  /// Plays a stream to its end. `source` and `record` are YAML.
  void play(const std::string& source, const std::string& record, GstClockTime longest = 0) {
    gst_init(nullptr, nullptr);
    const Config config =
        parse_config("models: {shapes: {model: " + shapes() +
                         "/shapes.xml, device: software, threshold: 0.2}}\n"
                         "streams:\n"
                         "- id: door\n  model: shapes\n  drop: none\n  count: {anchor: center}\n"
                         "  lines: [{name: middle, points: [[0.5, 0], [0.5, 1]]}]\n  source: " +
                         source + "\n  record: " + record + "\n",
                     (folder_.path() / "cameras.yaml").string());
    std::vector<const gchar*> words;
    const LaunchLine line = launch_line(config.streams[0], config);
    for (const std::string& word : line) words.push_back(word.c_str());
    words.push_back(nullptr);
    GError* error = nullptr;
    GstElement* const pipeline = gst_parse_launchv(words.data(), &error);
    ASSERT_EQ(error, nullptr) << error->message;
    GstElement* const end = gst_bin_get_by_name(GST_BIN(pipeline), "end");
    GstElement* const encoded = gst_bin_get_by_name(GST_BIN(pipeline), "record");
    RecordSettings settings = record_settings(config.streams[0]);
    settings.longest = longest ? longest : settings.longest;
    const auto recorder =
        Recorder::make(end, encoded, std::move(settings),
                       [this](const auto& kind, const auto& text, const auto& clip) {
                         told_.push_back({kind, text, clip});
                       });
    gst_element_set_state(pipeline, GST_STATE_PLAYING);
    wait_for_end(pipeline);
    recorder->finish();
    while (!recorder->is_done()) g_main_context_iteration(nullptr, TRUE);
    while (g_main_context_iteration(nullptr, FALSE)) continue;
    gst_element_set_state(pipeline, GST_STATE_NULL);
    gst_object_unref(end);
    gst_object_unref(encoded);
    gst_object_unref(pipeline);
  }

  void wait_for_end(GstElement* pipeline) {
    GstBus* const bus = gst_element_get_bus(pipeline);
    constexpr auto kAll =
        static_cast<GstMessageType>(GST_MESSAGE_EOS | GST_MESSAGE_ERROR | GST_MESSAGE_ELEMENT);
    for (bool is_over = false; !is_over;) {
      GstMessage* const message = gst_bus_timed_pop_filtered(bus, GST_CLOCK_TIME_NONE, kAll);
      const GstStructure* const said = gst_message_get_structure(message);
      guint64 time = 0;
      if (said && gst_structure_has_name(said, "npu-count") &&
          gst_structure_get_uint64(said, "pts", &time)) {
        events_.push_back(time);
      }
      EXPECT_NE(GST_MESSAGE_TYPE(message), GST_MESSAGE_ERROR);
      is_over = GST_MESSAGE_TYPE(message) != GST_MESSAGE_ELEMENT;
      gst_message_unref(message);
    }
    gst_object_unref(bus);
  }

  std::vector<fs::path> clips() const {
    std::vector<fs::path> files;
    for (const auto& entry : fs::directory_iterator(folder_.path() / "clips"))
      files.push_back(entry.path());
    std::sort(files.begin(), files.end());
    return files;
  }

  /// The end of the clip that the first event begins.
  GstClockTime end_of_first(GstClockTime after, GstClockTime longest) const {
    GstClockTime until = events_.at(0) + after;
    for (const GstClockTime event : events_) {
      if (event <= until) {
        until = std::min(event + after, events_[0] + longest);
      }
    }
    return until;
  }

  npu::test::TempDir folder_;
  std::vector<Told> told_;
  std::vector<GstClockTime> events_;  // running times
};

TEST_F(RecorderTest, AClipIsTheSourcesOwnVideoFromBeforeTheEventOn) {
  play("{file: " + shapes() + "/shapes.mp4, realtime: false}", "{before: 1, after: 2}");
  const std::vector<Seen> source = decoded(shapes() + "/shapes.mp4");
  const std::vector<Seen> clip = decoded(clips().at(0));
  const auto first = std::find_if(source.begin(), source.end(),
                                  [&](const Seen& one) { return one.sum == clip.at(0).sum; });
  ASSERT_NE(first, source.end());
  const auto count = static_cast<std::ptrdiff_t>(clip.size());
  ASSERT_LE(count, source.end() - first);
  for (std::ptrdiff_t i = 0; i < count; ++i) EXPECT_EQ(first[i].sum, clip[i].sum) << i;
  EXPECT_TRUE(first->time + GST_SECOND <= events_.at(0) || first == source.begin());
  EXPECT_GE(first[count - 1].time + GST_SECOND / 20,
            std::min(end_of_first(2 * GST_SECOND, 300 * GST_SECOND), source.back().time));
}

TEST_F(RecorderTest, FramesOfARawSourceAreEncoded) {
  play("{launch: 'filesrc location=\"" + shapes() + "/shapes.mp4\" ! decodebin'}",
       "{before: 1, after: 2}");
  const std::vector<Seen> clip = decoded(clips().at(0));
  const GstClockTime begin = events_.at(0) - std::min<GstClockTime>(events_[0], GST_SECOND);
  const double seconds =
      static_cast<double>(end_of_first(2 * GST_SECOND, 300 * GST_SECOND) - begin) / GST_SECOND;
  EXPECT_NEAR(static_cast<double>(clip.size()), std::min(seconds * 30, 300.0), 2.0);
}

TEST_F(RecorderTest, AClipIsNoLongerThanItMay) {
  play("{file: " + shapes() + "/shapes.mp4, realtime: false}",
       "{before: 0, after: 60, on: [circle, square, triangle]}", 2 * GST_SECOND);
  EXPECT_GE(clips().size(), 4U);  // of ten seconds in which objects are always seen
  for (const fs::path& clip : clips()) {
    // From the key frame before the event on.
    EXPECT_LE(decoded(clip).back().time, 2 * GST_SECOND + kLongestGroup) << clip;
  }
}

TEST_F(RecorderTest, ItIsToldWhereAClipIsAndWhy) {
  play("{file: " + shapes() + "/shapes.mp4, realtime: false}", "{before: 1, after: 1}");
  ASSERT_FALSE(told_.empty());
  ASSERT_EQ(told_.size(), clips().size());
  std::sort(told_.begin(), told_.end(),
            [](const Told& one, const Told& other) { return one.clip < other.clip; });
  EXPECT_EQ(told_[0].kind, "recorded");
  EXPECT_EQ(told_[0].clip, "clips/" + clips()[0].filename().string());
  EXPECT_NE(told_[0].text.find("for middle "), std::string::npos) << told_[0].text;
}

TEST_F(RecorderTest, ObjectsOfALabelBeginAClip) {
  play("{file: " + shapes() + "/shapes.mp4, realtime: false}", "{on: [circle]}");
  ASSERT_FALSE(told_.empty());
  EXPECT_NE(told_[0].text.find("for circle"), std::string::npos) << told_[0].text;
}

TEST(RecordSettings, OnlyLabelsOfTheStreamBeginAClipWhereItHasNoPlaces) {
  const Config config = parse_config(
      "models: {m: {model: m.xml}}\n"
      "defaults: {model: m, record: clips}\n"
      "streams:\n"
      "- {id: some, source: {file: a.mp4}, labels: [circle]}\n"
      "- {id: all, source: {file: a.mp4}}\n",
      "/f/c.yaml");
  const RecordSettings some = record_settings(config.streams[0]);
  EXPECT_EQ(some.labels, std::set<std::string>{"circle"});
  EXPECT_FALSE(some.is_any_object);
  EXPECT_TRUE(record_settings(config.streams[1]).is_any_object);
}

TEST_F(RecorderTest, OtherLabelsBeginNone) {
  play("{file: " + shapes() + "/shapes.mp4, realtime: false}", "{on: [person]}");
  EXPECT_TRUE(told_.empty());
  EXPECT_FALSE(fs::exists(folder_.path() / "clips"));
}

TEST_F(RecorderTest, AFolderThatCannotBeMadeIsToldOnce) {
  std::ofstream(folder_.path() / "taken") << "a file";
  play("{file: " + shapes() + "/shapes.mp4, realtime: false}", "{folder: taken/clips}");
  ASSERT_EQ(told_.size(), 1U);
  EXPECT_EQ(told_[0].kind, "not-recorded");
  EXPECT_NE(told_[0].text.find("taken/clips cannot be made"), std::string::npos) << told_[0].text;
}

TEST_F(RecorderTest, FramesWithoutTimesAreToldOnce) {
  const std::string file = (folder_.path() / "door.h264").string();
  gst_init(nullptr, nullptr);
  const std::string words = "filesrc location=\"" + shapes() +
                            "/shapes.mp4\" ! qtdemux ! h264parse ! "
                            "video/x-h264,stream-format=byte-stream ! filesink location=\"" +
                            file + "\"";
  GstElement* const pipeline = gst_parse_launch(words.c_str(), nullptr);
  run_to_end(pipeline);
  gst_object_unref(pipeline);
  play("{file: '" + file + "', realtime: false}", "clips");
  ASSERT_EQ(told_.size(), 1U);
  EXPECT_EQ(told_[0].kind, "not-recorded");
  EXPECT_NE(told_[0].text.find("frames have no times"), std::string::npos) << told_[0].text;
}

/// Clips on a disk that hangs until released.
class HungDiskTest : public testing::Test {
 protected:
  HungDiskTest() { gst_init(nullptr, nullptr); }

  std::unique_ptr<Clip> make_clip() {
    GstCaps* const caps = gst_caps_from_string("image/jpeg,width=64,height=64,framerate=30/1");
    const auto make = [this, token = token_, released = released_.get_future().share()] {
      released.wait();
      return files_.make_clip(0);
    };
    const auto written = [](const fs::path&) {};
    const auto done = [this](const Clip&, const fs::path&, const std::string& error) {
      errors_.push_back(error);
    };
    auto clip = std::make_unique<Clip>(ClipFile{make, written}, caps, done);
    gst_caps_unref(caps);
    return clip;
  }

  static void add(Clip& clip, int second, std::size_t bytes) {
    GstBuffer* const frame = gst_buffer_new_allocate(nullptr, bytes, nullptr);
    gst_buffer_memset(frame, 0, 0, bytes);
    clip.add(frame, static_cast<GstClockTime>(second) * GST_SECOND);
    gst_buffer_unref(frame);
  }

  void wait_for_word() {
    while (errors_.empty()) g_main_context_iteration(nullptr, TRUE);
  }

  /// The disk answers; waits for the clip's thread.
  void release() {
    released_.set_value();
    while (token_.use_count() > 1) {
      g_main_context_iteration(nullptr, FALSE);
      g_usleep(1000);
    }
  }

  std::vector<std::string> files() const {
    std::vector<std::string> names;
    for (const auto& entry : fs::directory_iterator(folder_.path()))
      names.push_back(entry.path().filename());
    return names;
  }

  npu::test::TempDir folder_;
  ClipFolder files_{folder_.path(), "door", {}};
  std::promise<void> released_;
  std::shared_ptr<const int> token_ = std::make_shared<int>();
  std::vector<std::string> errors_;
};

TEST_F(HungDiskTest, FramesWaitAndAreWrittenWhenItAnswers) {
  auto clip = make_clip();
  for (int second = 0; second < 3; ++second) add(*clip, second, 1000);
  clip->end("somebody");
  released_.set_value();
  wait_for_word();
  EXPECT_EQ(errors_[0], "");
  EXPECT_EQ(files(), std::vector<std::string>{"door-19700101T000000.000Z.mkv"});
  EXPECT_GT(fs::file_size(folder_.path() / files()[0]), 3000U);
}

TEST_F(HungDiskTest, AClipIsGivenUpWhenTooManyFramesWait) {
  auto clip = make_clip();
  for (int second = 0; second < 3; ++second) add(*clip, second, 100U << 20U);
  wait_for_word();  // the disk still hangs
  EXPECT_EQ(errors_[0], "the disk is slower than the frames, or does not answer");
  clip.reset();
  release();
  EXPECT_EQ(errors_.size(), 1U);
  EXPECT_TRUE(files().empty());
}

// The frames that a recorder has kept.
TEST_F(HungDiskTest, AClipMayBeginWith128MiBAtOnce) {
  auto clip = make_clip();
  for (int second = 0; second < 2; ++second) add(*clip, second, 64U << 20U);
  add(*clip, 2, 1000);
  clip->end("somebody");
  released_.set_value();
  wait_for_word();
  EXPECT_EQ(errors_[0], "");
}

TEST_F(HungDiskTest, AClipCanBeDestroyed) {
  auto clip = make_clip();
  add(*clip, 0, 1000);
  clip.reset();
  release();
  EXPECT_TRUE(errors_.empty());
  EXPECT_TRUE(files().empty());
}

TEST(ClipFolder, KeepsTheNewestClipsAndAllElse) {
  npu::test::TempDir folder;
  const auto write = [&](const fs::path& name) {
    std::ofstream(folder.path() / name) << std::string(100, 'x');
  };
  const ClipFolder three(folder.path(), "door", {.clips = 3});
  for (const char* name : {"door-2-20260101T000000.000Z.mkv", "door-notes.mkv", "yard.mkv"})
    write(name);
  fs::path newest;
  for (int second = 0; second < 5; ++second) {
    newest = three.make_clip(G_USEC_PER_SEC * second);
    fs::rename(newest.string() + ClipFolder::kUnfinished, newest);
    write(newest);
  }
  three.remove_old(newest);
  std::vector<std::string> left;
  for (const auto& entry : fs::directory_iterator(folder.path()))
    left.push_back(entry.path().filename());
  std::sort(left.begin(), left.end());
  EXPECT_EQ(left, (std::vector<std::string>{
                      "door-19700101T000002.000Z.mkv", "door-19700101T000003.000Z.mkv",
                      "door-19700101T000004.000Z.mkv", "door-2-20260101T000000.000Z.mkv",
                      "door-notes.mkv", "yard.mkv"}));
  ClipFolder(folder.path(), "door", {.clips = 3, .bytes = 250}).remove_old(newest);
  EXPECT_FALSE(fs::exists(folder.path() / "door-19700101T000002.000Z.mkv"));
  EXPECT_TRUE(fs::exists(folder.path() / "door-19700101T000003.000Z.mkv"));
}

TEST(ClipFolder, GivesNoNameTwice) {
  npu::test::TempDir folder;
  const ClipFolder clips(folder.path(), "door", {});
  const fs::path first = clips.make_clip(0);
  EXPECT_NE(clips.make_clip(0), first);
}

}  // namespace
}  // namespace npustream
