// Streams of a fleet on the software NPU, in a main loop.
#include "run/fleet.hpp"

#include <gst/gst.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <functional>

#include "config/edit.hpp"
#include "run/launch_line.hpp"
#include "run/stream.hpp"
#include "support/temp_dir.hpp"

namespace npustream {
namespace {

class FleetTest : public testing::Test {
 protected:
  void write(const std::string& streams) {
    gst_init(nullptr, nullptr);
    const std::string shapes = std::getenv("NPU_SHAPES_FOLDER");
    const std::string yaml =
        "models: {shapes: {model: " + shapes + "/shapes.xml, device: software, threshold: 0.2}}\n" +
        "defaults: {model: shapes, count: {anchor: center}}\nstreams:\n" + streams;
    std::string text = yaml;
    for (std::size_t at = 0; (at = text.find("CLIP", at)) != std::string::npos;)
      text.replace(at, 4, shapes + "/shapes.mp4");
    replace_file(file_, text);
  }

  void start(const std::string& streams) {
    write(streams);
    fleet_ = std::make_unique<Fleet>(read_config(file_));
    fleet_->start();
  }

  /// Runs the main loop until then.
  static void wait_for(const std::function<bool()>& condition) {
    constexpr gint64 kPatienceUs = 120 * G_USEC_PER_SEC;
    const gint64 until = g_get_monotonic_time() + kPatienceUs;
    while (!condition()) {
      ASSERT_LT(g_get_monotonic_time(), until);
      g_main_context_iteration(nullptr, FALSE);
      g_usleep(1000);
    }
  }

  std::uint64_t forward(const std::string& id) const {
    return fleet_->stream(id).lines.at(0).counts.at(0).second;
  }

  npu::test::TempDir folder_;
  std::string file_ = (folder_.path() / "cameras.yaml").string();
  std::unique_ptr<Fleet> fleet_;
};

constexpr const char* kCounted =
    "  - id: door\n"
    "    source: {file: CLIP, loop: true}\n"
    "    lines: [{name: middle, points: [[0.5, 0], [0.5, 1]]}]\n";

TEST_F(FleetTest, CountsGoOnInAnotherPipeline) {
  start(kCounted);
  wait_for([&] { return forward("door") > 2; });
  const std::uint64_t counted = forward("door");
  fleet_->change("door", {{"priority", 3}});  // another launch line
  EXPECT_EQ(fleet_->stream("door").state, StreamState::kStarting);
  wait_for([&] { return fleet_->stream("door").state == StreamState::kPlaying; });
  EXPECT_GE(forward("door"), counted);
  wait_for([&] { return forward("door") > counted + 2; });
  EXPECT_EQ(read_config(file_).streams[0].json["priority"], 3);
}

TEST_F(FleetTest, PicturesAreMadeForThoseWhoAsk) {
  start(kCounted);
  PicturePtr picture;
  wait_for([&] { return (picture = fleet_->picture("door", 300)) != nullptr; });
  ASSERT_GT(picture->jpeg.size(), 1000U);
  EXPECT_EQ(picture->jpeg.substr(0, 2), "\xff\xd8");
  wait_for([&] { return fleet_->picture("door", 320)->number > picture->number + 1; });
}

TEST_F(FleetTest, PicturesHaveTheNewOverlayWhileTheyAreAskedFor) {
  start(kCounted);
  PicturePtr old;
  wait_for([&] { return (old = fleet_->picture("door", 320)) && old->number > 3; });
  fleet_->change("door", {{"overlay", false}});
  PicturePtr picture = fleet_->picture("door", 320);
  EXPECT_TRUE(!picture || picture->number < old->number) << "the old overlay's maker";
  wait_for([&] { return (picture = fleet_->picture("door", 320)) != nullptr; });
}

TEST_F(FleetTest, EventsComeWithPictures) {
  start(kCounted);
  wait_for([&] {
    const auto events = fleet_->events(0);
    return std::any_of(events.begin(), events.end(),
                       [](const Event& event) { return event.kind == "forward" && event.picture; });
  });
}

TEST_F(FleetTest, EventsTellOfClips) {
  start(std::string(kCounted) + "    record: {before: 1, after: 1, longest: 10}\n");
  std::string clip;
  wait_for([&] {
    for (const Event& event : fleet_->events(0)) {
      clip = event.kind == "recorded" ? to_json(event)["clip"].get<std::string>() : clip;
    }
    return !clip.empty();
  });
  EXPECT_TRUE(clip.starts_with("clips/door-")) << clip;
  EXPECT_GT(std::filesystem::file_size(folder_.path() / clip), 1000U);
  const std::uint64_t inferred = fleet_->stream("door").frames_inferred;
  fleet_->change("door", {{"record", {{"folder", "other"}, {"after", 1}, {"longest", 10}}}});
  wait_for([&] {
    for (const Event& event : fleet_->events(0)) {
      clip = event.kind == "recorded" ? event.clip : clip;
    }
    return clip.starts_with("other/");
  });
  EXPECT_TRUE(std::filesystem::exists(folder_.path() / clip));
  EXPECT_GT(fleet_->stream("door").frames_inferred, inferred);
}

TEST_F(FleetTest, TheLastOfQuickEditsCounts) {
  start(kCounted);
  wait_for([&] { return forward("door") > 0; });
  fleet_->change("door", {{"paused", true}});
  EXPECT_TRUE(fleet_->stream("door").is_paused);
  fleet_->change("door", {{"paused", false}, {"lines", nullptr}});
  EXPECT_TRUE(fleet_->stream("door").lines.empty()) << "seen at once";
  wait_for([&] { return fleet_->stream("door").state == StreamState::kPlaying; });
  EXPECT_EQ(fleet_->stream("door").launch.find("npucount"), std::string::npos);
}

TEST_F(FleetTest, AStreamThatHasNoPipelineStartsWithItsNewKeys) {
  start("  - {id: door, source: {file: gone.mp4}}\n");
  wait_for([&] { return fleet_->stream("door").state == StreamState::kWaiting; });
  const std::string clip = std::string(std::getenv("NPU_SHAPES_FOLDER")) + "/shapes.mp4";
  fleet_->change("door", {{"source", {{"file", clip}, {"loop", true}}}});
  wait_for([&] { return fleet_->stream("door").state == StreamState::kPlaying; });
  fleet_->change("door", {{"paused", true}});
  wait_for([&] { return fleet_->stream("door").state == StreamState::kPaused; });
  for (int i = 0; i < 100; ++i) {  // until nothing is left of its pipeline
    g_main_context_iteration(nullptr, FALSE);
    g_usleep(10000);
  }
  fleet_->change("door", {{"paused", false}});
  wait_for([&] { return fleet_->stream("door").state == StreamState::kPlaying; });
}

TEST_F(FleetTest, ACameraThatNeverGivesAFrameHasFailed) {
  start("  - {id: mute, source: {launch: appsrc}}\n");
  EXPECT_FALSE(fleet_->is_ready());
  wait_for([&] { return fleet_->stream("mute").state == StreamState::kWaiting; });
  EXPECT_EQ(fleet_->stream("mute").error, "no frame came for 20 s");
  EXPECT_TRUE(fleet_->is_ready());
}

// Its old pipeline still ends when it should start again, and then it is removed.
TEST_F(FleetTest, AStreamThatIsStoppedWhileItWaitsDoesNotStart) {
  write(
      "  - id: slow\n"
      "    source: {launch: 'videotestsrc ! tee name=t ! queue ! identity error-after=1 ! fakesink "
      "t. ! queue ! identity sleep-time=4000000'}\n");
  const Config config = read_config(file_);
  const auto stream = std::make_shared<Stream>(
      config.streams[0], launch_line(config.streams[0], config), [](const auto&...) {});
  stream->start();
  wait_for([&] { return stream->state() == StreamState::kWaiting; });
  const gint64 tried_us = g_get_monotonic_time() + 3 * G_USEC_PER_SEC / 2;
  wait_for([&] { return g_get_monotonic_time() > tried_us; });
  bool is_done = false;
  stream->stop([&] { is_done = true; });
  wait_for([&] { return is_done; });
  EXPECT_TRUE(stream->is_gone());
}

TEST_F(FleetTest, StreamsComeAndGo) {
  start(kCounted);
  fleet_->add({{"id", "two"},
               {"source",
                {{"file", std::string(std::getenv("NPU_SHAPES_FOLDER")) + "/shapes.mp4"},
                 {"loop", true}}}});
  wait_for([&] { return fleet_->stream("two").frames_inferred > 10; });
  fleet_->change("two", {{"paused", true}});
  wait_for([&] { return fleet_->stream("two").state == StreamState::kPaused; });
  fleet_->remove("two");
  EXPECT_THROW(fleet_->stream("two"), NotFound);
  EXPECT_THROW(fleet_->change("door", {{"intervall", 3}}), ConfigError);
  EXPECT_EQ(fleet_->streams().size(), 1U);
  bool is_drained = false;
  fleet_->drain([&] { is_drained = true; });
  wait_for([&] { return is_drained; });
}

}  // namespace
}  // namespace npustream
