// Streams that share a model by model-instance-id, on a device that takes 2 ms a frame
// (SOFTNPU_EXEC=delay:2000); those that compete for it on one that takes 20 ms, for a busy machine
// must not be what holds them up.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "support/software_npu.hpp"

#include "element_harness.hpp"

namespace gstnpu::test::instance_test {
namespace {

struct StreamOptions {
  int frames = -1;  // -1: without end
  bool is_live = false;
  bool is_copied = false;  // frames come in memory that the device cannot read
  std::string properties;  // of npuinfer
};

/// videotestsrc ! npuinfer ! fakesink, in a pipeline of its own.
class SharingPipeline {
 public:
  SharingPipeline(const std::string& model, const StreamOptions& options) {
    const std::string line =
        std::string("videotestsrc is-live=") + (options.is_live ? "true" : "false") +
        " num-buffers=" + std::to_string(options.frames) +
        " ! video/x-raw,format=RGB,width=8,height=8,framerate=30/1 ! " +
        (options.is_copied ? "identity drop-allocation=true ! " : "") +
        "npuinfer name=npu device=software model-instance-id=shared model=" + model + " " +
        options.properties + " ! fakesink name=sink sync=" + (options.is_live ? "true" : "false");
    pipeline_.reset(GST_ELEMENT(gst_object_ref_sink(gst_parse_launch(line.c_str(), nullptr))));
    element_.reset(gst_bin_get_by_name(GST_BIN(pipeline_.get()), "npu"));
  }
  ~SharingPipeline() { stop(); }
  SharingPipeline(const SharingPipeline&) = delete;
  SharingPipeline& operator=(const SharingPipeline&) = delete;

  GstElement* get() const { return pipeline_.get(); }
  GstElement* element() const { return element_.get(); }
  void start() { gst_element_set_state(pipeline_.get(), GST_STATE_PLAYING); }
  void stop() { gst_element_set_state(pipeline_.get(), GST_STATE_NULL); }
  /// Before start().
  void keep_sink_stopped() {
    const ObjectRef<GstElement> sink(gst_bin_get_by_name(GST_BIN(pipeline_.get()), "sink"));
    gst_element_set_locked_state(sink.get(), TRUE);
  }
  /// False for an error.
  bool wait_for_end() const {
    const ObjectRef<GstBus> bus(gst_element_get_bus(pipeline_.get()));
    GstMessage* message = gst_bus_timed_pop_filtered(
        bus.get(), 60 * GST_SECOND,
        static_cast<GstMessageType>(GST_MESSAGE_EOS | GST_MESSAGE_ERROR));
    const bool is_end = message && GST_MESSAGE_TYPE(message) == GST_MESSAGE_EOS;
    gst_clear_message(&message);
    return is_end;
  }
  /// False for an error.
  bool wait_for_compilation() const {
    const ObjectRef<GstBus> bus(gst_element_get_bus(pipeline_.get()));
    GstMessage* message = gst_bus_timed_pop_filtered(
        bus.get(), 60 * GST_SECOND,
        static_cast<GstMessageType>(GST_MESSAGE_PROGRESS | GST_MESSAGE_ERROR));
    const bool is_begun = message && GST_MESSAGE_TYPE(message) == GST_MESSAGE_PROGRESS;
    gst_clear_message(&message);
    return is_begun;
  }
  guint64 stat(const char* field) const { return stat_of(element_.get(), field); }
  /// As a program does.
  void answer_latency() const {
    const ObjectRef<GstBus> bus(gst_element_get_bus(pipeline_.get()));
    if (!take_messages(bus.get(), GST_MESSAGE_LATENCY).empty()) {
      gst_bin_recalculate_latency(GST_BIN(pipeline_.get()));
    }
  }
  std::vector<std::string> errors() const {
    const ObjectRef<GstBus> bus(gst_element_get_bus(pipeline_.get()));
    return take_messages(bus.get(), GST_MESSAGE_ERROR);
  }

 private:
  ObjectRef<GstElement> pipeline_, element_;
};

class Instances : public testing::Test {
 protected:
  std::string model() { return dir_.write("pixels.xml", pixels_ir(8, 8)).string(); }
  void add(int streams, const StreamOptions& options) {
    const std::string file = model();
    for (int i = 0; i < streams; ++i) {
      streams_.push_back(std::make_unique<SharingPipeline>(file, options));
    }
  }
  void start_all() {
    for (const auto& stream : streams_) stream->start();
  }
  /// Until each has that many inferences.
  void wait_for(guint64 inferred) const {
    for (const auto& stream : streams_) {
      EXPECT_TRUE(soon([&] { return stream->stat("inferred") >= inferred; }));
    }
  }
  std::vector<guint64> inferred() const {
    std::vector<guint64> counts;
    for (const auto& stream : streams_) counts.push_back(stream->stat("inferred"));
    return counts;
  }
  static std::uint64_t graphs_created() {
    std::uint64_t created = 0;
    for (const auto& [call, count] : npu::test::driver_call_counts()) {
      created += call.starts_with("pfnCreate") && call.size() <= std::string("pfnCreate3").size()
                     ? count
                     : 0;
    }
    return created;
  }

  TempDir dir_;
  std::vector<std::unique_ptr<SharingPipeline>> streams_;
};

// The model is compiled in this process, whose driver counts the calls.
constexpr const char* kHere = "properties=NPUCORE_COMPILE=in-process";

TEST_F(Instances, CompileOnceHoweverManyStartTogether) {
  const auto run_one = [&] {
    SharingPipeline alone(model(), {.frames = 1, .properties = kHere});
    alone.start();
    return alone.wait_for_end();
  };
  ASSERT_TRUE(run_one());  // opens the driver
  npu::test::set_fault("");
  ASSERT_TRUE(run_one());
  const std::uint64_t for_one = graphs_created();
  ASSERT_GT(for_one, 0u);
  npu::test::set_fault("");
  add(16, {.frames = 30, .properties = kHere});
  std::vector<std::thread> starting;
  for (const auto& stream : streams_) starting.emplace_back([&] { stream->start(); });
  for (std::thread& thread : starting) thread.join();
  for (const auto& stream : streams_) {
    EXPECT_TRUE(stream->wait_for_end());
    EXPECT_EQ(stream->stat("inferred"), 30u);
  }
  EXPECT_EQ(graphs_created(), for_one);
}

// Else each stream that looks in later begins it anew, and the last one's error comes when as many
// have failed one after the other as there are streams.
TEST_F(Instances, AreAllToldOfOneCompilationThatFails) {
  const std::string runs = (dir_.path() / "runs").string(), go = (dir_.path() / "go").string();
  const std::string wait = "while [ ! -e " + go + " ]; do sleep 0.05; done\n";
  const std::string helper =
      dir_.write("helper", "#!/bin/sh\necho >> " + runs + "\n" + wait + "exit 1\n").string();
  std::filesystem::permissions(helper, std::filesystem::perms::owner_all);
  g_setenv("NPUCORE_HELPER_PATH", helper.c_str(), TRUE);
  // The helper only takes its time: this process then finds out itself what is wrong.
  const std::string model =
      dir_.write("unknown.xml", npu::test::unknown_operator_ir(8, 8)).string();
  for (int i = 0; i < 6; ++i) {
    streams_.push_back(std::make_unique<SharingPipeline>(
        model, StreamOptions{.is_live = true, .properties = "drop=late"}));
  }
  start_all();
  for (const auto& stream : streams_) EXPECT_TRUE(stream->wait_for_compilation());
  dir_.write("go", "");
  for (const auto& stream : streams_) EXPECT_FALSE(stream->wait_for_end());
  g_unsetenv("NPUCORE_HELPER_PATH");
  EXPECT_EQ(std::filesystem::file_size(runs), 1u) << "a line for each run";
}

TEST_F(Instances, GiveEachStreamItsShareOnASlowDevice) {
  add(8, {});
  start_all();
  wait_for(3);  // all have begun
  const std::vector<guint64> before = inferred();
  wait_for(*std::max_element(before.begin(), before.end()) + 25);
  std::vector<guint64> shares = inferred();
  for (std::size_t i = 0; i < shares.size(); ++i) shares[i] -= before[i];
  const auto [least, most] = std::minmax_element(shares.begin(), shares.end());
  EXPECT_GE(static_cast<double>(*least), 0.8 * static_cast<double>(*most))
      << *least << " to " << *most << ": this machine may be busy, else they are within 5 %";
  RecordProperty("least", std::to_string(*least));
  RecordProperty("most", std::to_string(*most));
}

TEST_F(Instances, GiveTheHigherPriorityItsTurnFirstOnASlowDevice) {
  add(1, {.properties = "priority=1"});
  add(3, {});
  start_all();
  ASSERT_TRUE(soon([&] { return inferred()[0] >= 5; }));
  const std::vector<guint64> before = inferred();
  ASSERT_TRUE(soon([&] { return inferred()[0] >= before[0] + 50; }));
  const std::vector<guint64> after = inferred();
  const guint64 first = after[0] - before[0];
  for (std::size_t i = 1; i < after.size(); ++i) EXPECT_GT(first, 2 * (after[i] - before[i]));
}

TEST_F(Instances, ServeEveryLiveStream) {
  constexpr guint64 kFrames = 60;
  // Frames that come during the compilation would be dropped.
  add(12, {.frames = kFrames, .is_live = true, .properties = "drop=late preload=true"});
  start_all();
  for (const auto& stream : streams_) EXPECT_TRUE(stream->wait_for_end());
  for (const auto& stream : streams_) {
    EXPECT_EQ(stream->stat("inferred") + stream->stat("late") + stream->stat("dropped"), kFrames);
    EXPECT_GT(stream->stat("inferred"), 0u) << "all, but for a busy machine";
  }
}

// Each of them learns its latency from what the others leave to it.
TEST_F(Instances, ServeEveryPipelineOfTooManyOnASlowDevice) {
  add(6, {.is_live = true, .properties = "drop=late preload=true"});
  start_all();
  const auto serve_for = [&](int tenths) {
    for (int i = 0; i < tenths; ++i) {
      std::this_thread::sleep_for(std::chrono::milliseconds(100));
      for (const auto& stream : streams_) stream->answer_latency();
    }
  };
  serve_for(20);
  const std::vector<guint64> before = inferred();
  serve_for(40);
  std::vector<guint64> shares = inferred();
  for (std::size_t i = 0; i < shares.size(); ++i) shares[i] -= before[i];
  const auto [least, most] = std::minmax_element(shares.begin(), shares.end());
  EXPECT_GT(4 * *least, *most) << *least << " to " << *most;
  RecordProperty("least", std::to_string(*least));
  RecordProperty("most", std::to_string(*most));
}

TEST_F(Instances, CountNoCopyOfAFrameWhoseTurnDoesNotComeOnASlowDevice) {
  add(4, {.properties = "priority=1"});
  start_all();
  wait_for(5);
  SharingPipeline starved(
      model(), {.frames = 30, .is_live = true, .is_copied = true, .properties = "drop=late"});
  starved.start();
  ASSERT_TRUE(starved.wait_for_end());
  EXPECT_GT(starved.stat("dropped"), 0u);
  EXPECT_EQ(starved.stat("copied"), starved.stat("inferred"));
}

TEST_F(Instances, LeaveOthersAloneWhenOneFlushesOrEnds) {
  add(4, {});
  start_all();
  wait_for(10);
  for (int round = 0; round < 20; ++round) {
    SharingPipeline& victim = *streams_[static_cast<std::size_t>(round % 2)];
    if (round % 4 < 2) {
      gst_element_seek_simple(victim.get(), GST_FORMAT_TIME, GST_SEEK_FLAG_FLUSH, 0);
    } else {
      victim.stop();
      victim.start();
    }
    const std::vector<guint64> before = inferred();
    for (std::size_t other = 2; other < streams_.size(); ++other) {
      EXPECT_TRUE(soon([&] { return inferred()[other] >= before[other] + 3; }))
          << "round " << round;
    }
  }
  for (std::size_t other = 2; other < streams_.size(); ++other) {
    EXPECT_TRUE(streams_[other]->errors().empty());
    EXPECT_EQ(streams_[other]->stat("lost"), 0u);
  }
}

// A branch whose sink is not started yet refuses a first frame while the second is in the NPU.
TEST_F(Instances, LeaveOthersAloneWhenAFrameIsRefused) {
  const std::string file = model();
  for (int i = 0; i < 24; ++i) {  // more than have a turn at a time
    streams_.push_back(std::make_unique<SharingPipeline>(file, StreamOptions{.frames = 2}));
    streams_.back()->keep_sink_stopped();
    streams_.back()->start();
    EXPECT_TRUE(soon([&] { return streams_.back()->stat("inferred") > 0; }));
    ASSERT_EQ(streams_.back()->stat("inferred"), 1u) << "the stream after " << i;
  }
}

TEST_F(Instances, RefuseTheSameModelWithOtherSettings) {
  add(1, {});
  start_all();
  wait_for(1);
  SharingPipeline other(model(), {.properties = "mean=3"});
  other.start();
  gst_element_get_state(other.get(), nullptr, nullptr, 10 * GST_SECOND);
  const std::vector<std::string> errors = other.errors();
  ASSERT_EQ(errors.size(), 1u);
  EXPECT_TRUE(has(errors[0], "mean"));
  EXPECT_TRUE(has(errors[0], "model-instance-id=shared"));
}

TEST_F(Instances, StreamsComeAndGo) {
  const std::string file = model();
  {
    SharingPipeline warm(file, {.frames = 1});
    warm.start();
    ASSERT_TRUE(warm.wait_for_end());
  }
  const std::size_t threads = running_threads(), descriptors = open_descriptors();
  ASSERT_TRUE(npu::test::driver_objects_settle_at(0)) << npu::test::describe_live_objects();
  constexpr int kThreads = 8, kRounds = 13;  // 104 streams
  std::vector<std::thread> users;
  for (int user = 0; user < kThreads; ++user) {
    users.emplace_back([&file, user] {
      std::mt19937 random(static_cast<unsigned>(user));
      for (int round = 0; round < kRounds; ++round) {
        const bool is_live = random() % 2 == 0;
        SharingPipeline stream(file,
                               {.is_live = is_live, .properties = is_live ? "drop=busy" : ""});
        stream.start();
        g_usleep(random() % 200000);
        EXPECT_TRUE(stream.errors().empty());
      }
    });
  }
  for (std::thread& user : users) user.join();
  EXPECT_TRUE(npu::test::driver_objects_settle_at(0)) << npu::test::describe_live_objects();
  EXPECT_TRUE(soon([&] { return running_threads() <= threads + 8; }))
      << "GLib keeps some in its pool, here are " << running_threads() << " after " << threads;
  EXPECT_LE(open_descriptors(), descriptors + 8);
}

}  // namespace
}  // namespace gstnpu::test::instance_test
