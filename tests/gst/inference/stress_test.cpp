// npuinfer under seeks, flushes, pauses, state changes, new caps, new links, new models and new
// properties at random moments: no frame lost,
// doubled, out of order or with another frame's tensor, no event out of place, and no hang.
// NPU_STRESS_SECONDS and NPU_STRESS_SEED lengthen and repeat a run.
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <cstdlib>
#include <random>
#include <thread>

#include "element_harness.hpp"
#include "frame_ledger.hpp"

namespace gstnpu::test {
namespace {

constexpr unsigned kHangSeconds = 30;
constexpr gint64 kClipNs = 1000 * GST_SECOND;

unsigned setting(const char* name, unsigned fallback) {
  const char* text = std::getenv(name);
  return text != nullptr ? static_cast<unsigned>(std::strtoul(text, nullptr, 10)) : fallback;
}

/// Criticals and warnings of GLib and GStreamer, such as "data flow before segment event".
class LogWatch {
 public:
  LogWatch() : old_(g_log_set_default_handler(watch, this)) {}
  ~LogWatch() { g_log_set_default_handler(old_, nullptr); }
  LogWatch(const LogWatch&) = delete;
  LogWatch& operator=(const LogWatch&) = delete;

  std::vector<std::string> texts() {
    const std::scoped_lock lock(mutex_);
    return texts_;
  }

 private:
  static void watch(const gchar*, GLogLevelFlags level, const gchar* text, gpointer self) {
    auto* log = static_cast<LogWatch*>(self);
    if (!(level & (G_LOG_LEVEL_CRITICAL | G_LOG_LEVEL_WARNING | G_LOG_LEVEL_ERROR))) return;
    const std::scoped_lock lock(log->mutex_);
    log->texts_.push_back(text);
  }

  GLogFunc old_;
  std::mutex mutex_;  // guards texts_
  std::vector<std::string> texts_;
};

class Stress : public testing::Test {
 protected:
  void SetUp() override {
    model_ = dir_.write("pixels.xml", pixels_ir(8, 8)).string();
    dir_.write("pixels.bin", "");
    other_model_ = dir_.write("other.xml", pixels_ir(8, 8)).string();
  }

  void TearDown() override {
    if (pipeline_ == nullptr) return;
    gst_element_set_state(pipeline_, GST_STATE_NULL);
    ledger_.reset();  // its probes are quiet now
    gst_object_unref(npu_);
    gst_object_unref(bus_);
    gst_object_unref(pipeline_);
  }

  void launch(const std::string& before, const std::string& after) {
    const std::string line = before + " ! capsfilter name=caps caps=" + caps_with_aspect(1) +
                             " ! npuinfer name=npu device=software nireq=3 model=" + model_ +
                             " ! " + after;
    GError* error = nullptr;
    pipeline_ = gst_parse_launch(line.c_str(), &error);
    ASSERT_EQ(error, nullptr) << error->message;
    bus_ = gst_element_get_bus(pipeline_);
    npu_ = gst_bin_get_by_name(GST_BIN(pipeline_), "npu");
  }

  static std::string caps_with_aspect(int aspect) {
    return "video/x-raw,format=RGB,width=8,height=8,framerate=30/1,pixel-aspect-ratio=" +
           std::to_string(aspect) + "/1";
  }

  /// Starts a new stream of the same pictures.
  void change_caps(int aspect) {
    const ObjectRef<GstElement> filter(gst_bin_get_by_name(GST_BIN(pipeline_), "caps"));
    const CapsRef caps(gst_caps_from_string(caps_with_aspect(aspect).c_str()));
    g_object_set(filter.get(), "caps", caps.get(), nullptr);
  }

  /// Unlinks and links again what comes behind the element, between two frames: in the thread that
  /// pushes them. Elsewhere a push that is in one of the ledger's probes would miss the link.
  void relink() {
    const ObjectRef<GstPad> src(gst_element_get_static_pad(npu_, "src"));
    // Events come from more than one thread.
    struct Once {
      std::atomic<bool> begun{false}, done{false};
    };
    const auto once = std::make_shared<Once>();
    gst_pad_add_probe(
        src.get(), GST_PAD_PROBE_TYPE_BLOCK_DOWNSTREAM,
        [](GstPad* pad, GstPadProbeInfo*, gpointer shared) {
          Once& this_time = **static_cast<std::shared_ptr<Once>*>(shared);
          if (this_time.begun.exchange(true)) {
            // Its answer lets frames through: not while nothing is linked.
            while (!this_time.done) std::this_thread::yield();
            return GST_PAD_PROBE_REMOVE;
          }
          const ObjectRef<GstPad> sink(gst_pad_get_peer(pad));
          EXPECT_TRUE(gst_pad_unlink(pad, sink.get()));
          EXPECT_EQ(gst_pad_link(pad, sink.get()), GST_PAD_LINK_OK);
          this_time.done = true;
          return GST_PAD_PROBE_REMOVE;
        },
        new std::shared_ptr<Once>(once),
        [](gpointer shared) { delete static_cast<std::shared_ptr<Once>*>(shared); });
    const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(kHangSeconds);
    while (!once->done && std::chrono::steady_clock::now() < end) std::this_thread::yield();
    ASSERT_TRUE(once->done) << "nothing is pushed; " << bus_error();
  }

  void keep_account() {
    ledger_ = std::make_unique<FrameLedger>(npu_, std::getenv("SOFTNPU_EXEC") == nullptr);
  }

  void set_state(GstState state) {
    ASSERT_NE(gst_element_set_state(pipeline_, state), GST_STATE_CHANGE_FAILURE) << bus_error();
    ASSERT_EQ(gst_element_get_state(pipeline_, nullptr, nullptr, kHangSeconds * GST_SECOND),
              GST_STATE_CHANGE_SUCCESS)
        << "the state did not change in time; " << bus_error();
  }

  bool seek(gint64 to, gint64 stop, GstSeekFlags flags) {
    return gst_element_seek(pipeline_, 1, GST_FORMAT_TIME, flags, GST_SEEK_TYPE_SET, to,
                            GST_SEEK_TYPE_SET, stop);
  }

  /// Whether an end of stream came, and no error.
  bool wait_for_eos() {
    GstMessage* message = gst_bus_timed_pop_filtered(
        bus_, kHangSeconds * GST_SECOND,
        static_cast<GstMessageType>(GST_MESSAGE_EOS | GST_MESSAGE_ERROR));
    if (message == nullptr) return false;
    const bool is_eos = GST_MESSAGE_TYPE(message) == GST_MESSAGE_EOS;
    gst_message_unref(message);
    return is_eos;
  }

  std::string bus_error() {
    GstMessage* message = gst_bus_pop_filtered(bus_, GST_MESSAGE_ERROR);
    if (message == nullptr) return {};
    GError* error = nullptr;
    gst_message_parse_error(message, &error, nullptr);
    std::string text = error->message;
    g_error_free(error);
    gst_message_unref(message);
    return text;
  }

  TempDir dir_;
  std::string model_, other_model_;
  GstElement* pipeline_ = nullptr;
  GstElement* npu_ = nullptr;
  GstBus* bus_ = nullptr;
  std::unique_ptr<FrameLedger> ledger_;
};

class RandomStress : public Stress {
 protected:
  /// One thing that an application may do, chosen at random. Leaves the pipeline playing.
  void act() {
    const auto to = static_cast<gint64>(random_() % (kClipNs / 2));
    switch (random_() % 12) {
      case 0:
      case 1:
      case 2:
        EXPECT_TRUE(seek(to, kClipNs, GST_SEEK_FLAG_FLUSH));
        break;
      case 3:  // two flushes with hardly anything between them
        EXPECT_TRUE(seek(to, kClipNs, GST_SEEK_FLAG_FLUSH));
        EXPECT_TRUE(seek(to / 2, kClipNs, GST_SEEK_FLAG_FLUSH));
        break;
      case 4:
        // A seek without a flush waits for the sink, which after a flush waits for the state that
        // the seek would keep from changing: GStreamer's applications let the first one settle.
        set_state(GST_STATE_PLAYING);
        EXPECT_TRUE(seek(to, kClipNs, GST_SEEK_FLAG_NONE));
        break;
      case 5:
        set_state(GST_STATE_PAUSED);
        EXPECT_TRUE(seek(to, kClipNs, GST_SEEK_FLAG_FLUSH));
        set_state(GST_STATE_PLAYING);
        break;
      case 6:
        ledger_->expect_losses();
        set_state(random_() % 2 == 0 ? GST_STATE_READY : GST_STATE_NULL);
        ledger_->restart();
        set_state(GST_STATE_PLAYING);
        break;
      case 7:  // to the end, where all frames must have come out, and on
        EXPECT_TRUE(seek(to, to + 10 * GST_SECOND / 30, GST_SEEK_FLAG_FLUSH));
        EXPECT_TRUE(wait_for_eos()) << "no end of stream; " << bus_error();
        EXPECT_TRUE(seek(to, kClipNs, GST_SEEK_FLAG_FLUSH));
        break;
      case 8:
        change_caps(random_() % 2 == 0 ? 1 : 2);
        break;
      case 9:
        relink();
        break;
      case 10:
        g_object_set(npu_, "model", (random_() % 2 == 0 ? model_ : other_model_).c_str(), nullptr);
        break;
      case 11:
        gst_util_set_object_arg(G_OBJECT(npu_), "drop", random_() % 2 == 0 ? "none" : "busy");
        g_object_set(npu_, "stats-interval", random_() % 2 * 10, nullptr);
        break;
    }
  }

  std::minstd_rand random_;
};

TEST_F(RandomStress, LosesNothing) {
  const unsigned seed = setting("NPU_STRESS_SEED", 1);
  random_.seed(seed);
  LogWatch log;
  launch("videotestsrc pattern=black", "fakesink sync=false");
  keep_account();
  set_state(GST_STATE_PLAYING);
  const auto end =
      std::chrono::steady_clock::now() + std::chrono::seconds(setting("NPU_STRESS_SECONDS", 4));
  unsigned actions = 0;
  constexpr unsigned kLeastActions = 11;
  while ((std::chrono::steady_clock::now() < end || actions < kLeastActions) && !HasFailure()) {
    act();
    ++actions;
    ASSERT_TRUE(ledger_->wait_for_frames(random_() % 12, kHangSeconds))
        << "no frame comes any more after action " << actions << "; " << bus_error();
    std::this_thread::sleep_for(std::chrono::microseconds(random_() % 5000));
    const std::vector<std::string> complaints = ledger_->complaints();
    ASSERT_TRUE(complaints.empty())
        << complaints.front() << " (seed " << seed << ", action " << actions << ")";
  }
  set_state(GST_STATE_NULL);
  EXPECT_EQ(bus_error(), "");
  EXPECT_EQ(log.texts(), std::vector<std::string>());
  EXPECT_GE(actions, kLeastActions);
  EXPECT_GT(ledger_->marks_out(), 0u);
  RecordProperty("actions", static_cast<int>(actions));
  std::printf("%u actions, %llu frames\n", actions,
              static_cast<unsigned long long>(ledger_->frames_out()));
}

TEST_F(Stress, EveryFrameOfAWholeClipComesOut) {
  launch("videotestsrc num-buffers=300", "fakesink sync=false");
  keep_account();
  set_state(GST_STATE_PLAYING);
  ASSERT_TRUE(wait_for_eos()) << bus_error();
  EXPECT_EQ(ledger_->frames_out(), 300u);
  EXPECT_EQ(ledger_->marks_out(), 300u / 7);
  EXPECT_EQ(ledger_->complaints(), std::vector<std::string>());
}

// The element after npuinfer has had enough: it answers EOS, and the end must still reach the sink.
TEST_F(Stress, DownstreamMayEndTheStream) {
  launch("videotestsrc", "identity eos-after=5 ! fakesink sync=false");
  ASSERT_NE(gst_element_set_state(pipeline_, GST_STATE_PLAYING), GST_STATE_CHANGE_FAILURE);
  EXPECT_TRUE(wait_for_eos()) << "no end of stream; " << bus_error();
}

TEST_F(Stress, AFlushRestartsAStreamThatDownstreamEnded) {
  launch("videotestsrc", "identity name=end eos-after=5 ! fakesink sync=false");
  ASSERT_NE(gst_element_set_state(pipeline_, GST_STATE_PLAYING), GST_STATE_CHANGE_FAILURE);
  ASSERT_TRUE(wait_for_eos()) << bus_error();
  keep_account();  // what was inside when the stream ended is lost by right, and events pass it
  GstElement* end = gst_bin_get_by_name(GST_BIN(pipeline_), "end");
  g_object_set(end, "eos-after", -1, nullptr);
  gst_object_unref(end);
  ASSERT_TRUE(seek(0, kClipNs, GST_SEEK_FLAG_FLUSH));
  EXPECT_TRUE(ledger_->wait_for_frames(10, kHangSeconds));
  EXPECT_EQ(ledger_->complaints(), std::vector<std::string>());
}

// Two elements in one pipeline see the same memory.
TEST_F(Stress, TwoElementsOnOneStreamLoseNothing) {
  launch("videotestsrc num-buffers=200 ! tee name=tee ! queue",
         "fakesink sync=false tee. ! queue ! video/x-raw,format=RGB,width=8,height=8 ! npuinfer "
         "name=second device=software model=" +
             model_ + " ! fakesink sync=false");
  GstElement* second = gst_bin_get_by_name(GST_BIN(pipeline_), "second");
  FrameLedger second_ledger(second, false);
  gst_object_unref(second);
  ASSERT_NE(gst_element_set_state(pipeline_, GST_STATE_PLAYING), GST_STATE_CHANGE_FAILURE);
  EXPECT_TRUE(wait_for_eos()) << bus_error();
  EXPECT_EQ(second_ledger.frames_out(), 200u);
  EXPECT_EQ(second_ledger.complaints(), std::vector<std::string>());
  gst_element_set_state(pipeline_, GST_STATE_NULL);
}

}  // namespace
}  // namespace gstnpu::test
