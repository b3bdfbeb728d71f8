#include <algorithm>
#include <functional>
#include <utility>

#include "gst/leak_check.hpp"
#include "gst/publish_harness.hpp"
#include "sinks/child_process.hpp"

namespace publish_test {
namespace {

using gstnpu_test::becomes;
using gstnpu_test::ChildProcess;
using gstnpu_test::counts_of;
using gstnpu_test::ElementHarness;
using gstnpu_test::frame_with;
using gstnpu_test::HandMadeTensor;
using gstnpu_test::Owned;
using gstnpu_test::pipeline_command;
using gstnpu_test::TempFolder;
using gstnpu_test::yolo_tensor;

[[maybe_unused]] const bool kNeedsTracer = gstnpu_test::need_tracer(__FILE__);
const char* const kCaps = "video/x-raw,format=NV12,width=640,height=480,framerate=30/1";

HandMadeTensor two_objects() {
  return yolo_tensor({{100, 50, 40.5F, 20, 0.25F, 0.75F}, {300, 200, 60, 80, 0.625F, 0.5F}});
}

Owned<GstBuffer> inferred_frame(GstClockTime pts) {
  Owned<GstBuffer> frame = frame_with({two_objects()}, pts);
  gst_buffer_add_npu_inference_meta(frame.get(), "models/net.xml")->inference_ns = 1234567;
  return frame;
}

std::string launch(const TempFolder& folder, const std::string& more = {}) {
  return "npupublish location=" + folder.file("out.jsonl") + " " + more;
}

// The line for `frame`, through both elements. `prepare` has the harness before the frame.
std::string line_of(Owned<GstBuffer> frame, const std::string& properties = {},
                    const std::string& caps = kCaps,
                    const std::function<void(GstHarness*)>& prepare = {}) {
  const TempFolder folder;
  {
    ElementHarness harness("nputensordec labels=circle,square ! " + launch(folder, properties),
                           caps);
    if (prepare) {
      prepare(harness.get());
    }
    EXPECT_EQ(harness.push(std::move(frame)), GST_FLOW_OK) << harness.message(GST_MESSAGE_ERROR);
  }
  return folder.read("out.jsonl");
}

TEST(PublishLine, HoldsTheDetections) {
  EXPECT_EQ(
      line_of(inferred_frame(33333333)),
      R"({"frame":0,"pts":33333333,"width":640,"height":480,"model":"models/net.xml",)"
      R"("inference_ms":1.235,"detections":[)"
      R"({"label":"square","label_id":1,"confidence":0.75,"x":79.75,"y":40.0,"w":40.5,"h":20.0},)"
      R"({"label":"circle","label_id":0,"confidence":0.625,"x":270.0,"y":160.0,"w":60.0,"h":80.0}]})"
      "\n");
}

/// Sends a segment that begins a second into the stream, for time.
void begin_segment(GstHarness* harness, GstFormat format) {
  GstSegment segment;
  gst_segment_init(&segment, format);
  segment.start = format == GST_FORMAT_TIME ? GST_SECOND : 0;
  gst_harness_push_event(harness, gst_event_new_segment(&segment));
}

// Its timestamp is where the frame is in the stream, of which a second was skipped.
TEST(PublishLine, IsThatOfDlstreamerWhereAsked) {
  EXPECT_EQ(line_of(inferred_frame(GST_SECOND + 5), "format=dlstreamer", kCaps,
                    [](GstHarness* harness) { begin_segment(harness, GST_FORMAT_TIME); }),
            R"({"objects":[{"detection":{"bounding_box":{"x_max":0.187891,"x_min":0.124609,)"
            R"("y_max":0.125,"y_min":0.083333},"confidence":0.75,"label":"square","label_id":1},)"
            R"("h":20,"region_id":0,"roi_type":"square","w":40,"x":80,"y":40},)"
            R"({"detection":{"bounding_box":{"x_max":0.515625,"x_min":0.421875,)"
            R"("y_max":0.5,"y_min":0.333333},"confidence":0.625,"label":"circle","label_id":0},)"
            R"("h":80,"region_id":1,"roi_type":"circle","w":60,"x":270,"y":160}],)"
            R"("resolution":{"height":480,"width":640},"timestamp":5})"
            "\n");
}

TEST(PublishLine, OfAFrameWithoutInference) {
  EXPECT_EQ(line_of(frame_with({}, 5)),
            R"({"frame":0,"pts":5,"width":640,"height":480,"model":null,"inference_ms":null,)"
            R"("detections":[]})"
            "\n");
}

TEST(PublishLine, ListsTensorsWhenAsked) {
  HandMadeTensor bytes;
  bytes.name = "mask";
  bytes.shape = {2, 2};
  bytes.values = {0};
  bytes.type = GST_NPU_DATA_U8;
  EXPECT_TRUE(has(line_of(frame_with({two_objects(), bytes}), "tensors=true"),
                  R"("tensors":[{"name":"output0","type":"float32","shape":[1,6,16]},)"
                  R"({"name":"mask","type":"uint8","shape":[2,2]}]})"));
}

TEST(PublishLine, IsUtf8WhateverTheNames) {
  Owned<GstBuffer> frame = frame_with({});
  gst_buffer_add_npu_inference_meta(frame.get(), "m\xff\"\n.xml");
  const std::string line = line_of(std::move(frame));
  EXPECT_TRUE(has(line, "\"model\":\"m\xEF\xBF\xBD\\\"\\n.xml\""));
  EXPECT_EQ(std::count(line.begin(), line.end(), '\n'), 1);
}

TEST(PublishLine, OfAFrameWithoutSizeOrTime) {
  const TempFolder folder;
  {
    ElementHarness harness(launch(folder), "text/plain");
    ASSERT_EQ(harness.push(frame_with({}, GST_CLOCK_TIME_NONE)), GST_FLOW_OK);
  }
  EXPECT_EQ(folder.read("out.jsonl"),
            R"({"frame":0,"pts":null,"width":null,"height":null,"model":null,"inference_ms":null,)"
            R"("detections":[]})"
            "\n");
}

TEST(Publish, PassesTheVeryBuffer) {
  const TempFolder folder;
  ElementHarness harness(launch(folder), kCaps);
  Owned<GstBuffer> frame = inferred_frame(0);
  const Owned<GstBuffer> shared(gst_buffer_ref(frame.get()));
  ASSERT_EQ(harness.push(std::move(frame)), GST_FLOW_OK);
  EXPECT_EQ(harness.pull(), shared);
}

// Counts can still be read after a stop. What the file held stays.
TEST(Publish, AppendsAndCountsAnewFromEachStart) {
  const TempFolder folder;
  ElementHarness harness(launch(folder, "name=publish append=true"), kCaps);
  for (guint64 round = 1; round < 3; ++round) {
    for (guint i = 0; i < 2; ++i) ASSERT_EQ(harness.push(frame_with({}, i)), GST_FLOW_OK);
    ASSERT_EQ(gst_element_set_state(harness.element(), GST_STATE_NULL), GST_STATE_CHANGE_SUCCESS);
    EXPECT_EQ(counts_of(harness).published, 2U);
    gst_harness_play(harness.get());
    EXPECT_EQ(counts_of(harness).published, 0U);
    gst_harness_set_src_caps_str(harness.get(), kCaps);
  }
  const std::string text = folder.read("out.jsonl");
  std::vector<std::string> begins;
  for (std::size_t at = 0; at < text.size(); at = text.find('\n', at) + 1) {
    begins.push_back(text.substr(at, text.find(',', at) - at));
  }
  const std::string first = "{\"frame\":0", second = "{\"frame\":1";
  EXPECT_EQ(begins, (std::vector{first, second, first, second}));
}

/// The value of a text in a line.
std::string text_in(const std::string& line, const std::string& key) {
  const std::string begin = "\"" + key + "\":\"";
  const std::size_t at = line.find(begin);
  if (at == std::string::npos) return "";
  const std::size_t first = at + begin.size();
  return line.substr(first, line.find('"', first) - first);
}

TEST(Publish, NamesTheStreamWhereAsked) {
  EXPECT_EQ(text_in(line_of(frame_with({}), "stream-id=gate"), "stream"), "gate");
  EXPECT_FALSE(has(line_of(frame_with({})), "stream"));
}

TEST(Publish, TellsTheTimeOfTheSource) {
  struct Row {
    const char* reference;
    guint64 seconds;
  };
  for (const auto& [reference, seconds] :
       {Row{"timestamp/x-unix", 1769860800}, Row{"timestamp/x-ntp", 1769860800 + 2208988800}}) {
    Owned<GstBuffer> frame = frame_with({});
    GstCaps* caps = gst_caps_new_empty_simple(reference);
    gst_buffer_add_reference_timestamp_meta(frame.get(), caps, seconds * GST_SECOND + 40000000, 0);
    gst_caps_unref(caps);
    EXPECT_EQ(text_in(line_of(std::move(frame), "wall-clock=true"), "time"),
              "2026-01-31T12:00:00.040000Z");
  }
}

/// The line tells this machine's time, or that of so long ago.
void expect_time(gint64 seconds_ago, GstClockTime pts, const std::string& caps = kCaps,
                 const std::function<void(GstHarness*)>& prepare = {}) {
  const gint64 ago = seconds_ago * G_USEC_PER_SEC, before = g_get_real_time() - ago;
  const std::string text =
      text_in(line_of(frame_with({}, pts), "wall-clock=true", caps, prepare), "time");
  GDateTime* time = g_date_time_new_from_iso8601(text.c_str(), nullptr);
  ASSERT_NE(time, nullptr) << text;
  const gint64 told =
      g_date_time_to_unix(time) * G_USEC_PER_SEC + g_date_time_get_microsecond(time);
  g_date_time_unref(time);
  EXPECT_LE(before, told);
  EXPECT_LE(told, g_get_real_time() - ago);
}

TEST(Publish, TellsTheTimeOfThisMachineElse) {
  expect_time(0, GST_CLOCK_TIME_NONE);
}

// An hour after the frame's running time.
TEST(Publish, TellsWhenALateFrameWasTaken) {
  expect_time(3600, 0, kCaps, [](GstHarness* harness) {
    gst_harness_use_testclock(harness);
    gst_harness_set_time(harness, 3600 * GST_SECOND);
  });
}

// As behind filesrc: running times are of segments in time alone.
TEST(Publish, TellsTheTimeOfThisMachineInBytes) {
  const GLogLevelFlags fatal_before = g_log_set_always_fatal(G_LOG_LEVEL_CRITICAL);
  expect_time(0, 0, kCaps, [](GstHarness* harness) { begin_segment(harness, GST_FORMAT_BYTES); });
  g_log_set_always_fatal(fatal_before);
}

TEST(Publish, ReplacesTheFileEachStart) {
  const TempFolder folder;
  folder.write("out.jsonl", "old\n");
  { ElementHarness harness(launch(folder), kCaps); }
  EXPECT_EQ(folder.read("out.jsonl"), "");
}

TEST(Publish, TwoElementsWriteTwoFiles) {
  const TempFolder folder;
  {
    ElementHarness harness("npupublish location=" + folder.file("a") +
                               " ! npupublish location=" + folder.file("b") + " tensors=true",
                           kCaps);
    for (guint i = 0; i < 1000; ++i) ASSERT_EQ(harness.push(frame_with({}, i)), GST_FLOW_OK);
  }
  const std::string a = folder.read("a"), b = folder.read("b");
  EXPECT_EQ(std::count(a.begin(), a.end(), '\n'), 1000);
  EXPECT_EQ(std::count(b.begin(), b.end(), '\n'), 1000);
  EXPECT_FALSE(has(a, "tensors"));
}

TEST(Publish, WritesToStdoutWithoutALocation) {
  const TempFolder folder;
  for (const char* element : {"npupublish", "npupublish location=-"}) {
    ChildProcess(pipeline_command(std::string("fakesrc num-buffers=1 ! ") + element),
                 folder.file("stdout"))
        .wait();
    EXPECT_TRUE(folder.read("stdout").starts_with("{\"frame\":0,"));
  }
}

/// A pipeline, stopped at the end.
class Running {
 public:
  explicit Running(const std::string& description)
      : pipeline_(GST_ELEMENT(gst_object_ref_sink(gst_parse_launch(description.c_str(), nullptr)))),
        bus_(gst_element_get_bus(pipeline_.get())) {}
  ~Running() { gst_element_set_state(pipeline_.get(), GST_STATE_NULL); }
  Running(const Running&) = delete;
  Running& operator=(const Running&) = delete;

  GstElement* get() const { return pipeline_.get(); }
  Owned<GstElement> find(const char* name) const {
    return Owned<GstElement>(gst_bin_get_by_name(GST_BIN(get()), name));
  }
  /// Whether it has the state.
  bool reaches(GstState state) const {
    gst_element_set_state(get(), state);
    return gst_element_get_state(get(), nullptr, nullptr, 20 * GST_SECOND) ==
           GST_STATE_CHANGE_SUCCESS;
  }
  bool ends() const {
    const Owned<GstMessage> message(gst_bus_timed_pop_filtered(
        bus_.get(), 20 * GST_SECOND,
        static_cast<GstMessageType>(GST_MESSAGE_EOS | GST_MESSAGE_ERROR)));
    return message && GST_MESSAGE_TYPE(message.get()) == GST_MESSAGE_EOS;
  }

 private:
  const Owned<GstElement> pipeline_;
  const Owned<GstBus> bus_;
};

std::ptrdiff_t lines_in(const TempFolder& folder) {
  const std::string lines = folder.read("out.jsonl");
  return std::count(lines.begin(), lines.end(), '\n');
}

// As a sink does: it was all of the stream, and the stream went on.
TEST(PublishAtTheEnd, WaitsWithTheFirstFrameInPaused) {
  const TempFolder folder;
  const Running pipeline("videotestsrc num-buffers=5 ! " + launch(folder));
  ASSERT_TRUE(pipeline.reaches(GST_STATE_PAUSED));
  EXPECT_TRUE(becomes([&] { return lines_in(folder) == 1; }));
  gst_element_set_state(pipeline.get(), GST_STATE_PLAYING);
  EXPECT_TRUE(pipeline.ends());
  EXPECT_EQ(lines_in(folder), 5);
}

TEST(PublishAtTheEnd, AnswersSeeksAndSteps) {
  const TempFolder folder;
  const Running pipeline("videotestsrc num-buffers=50 ! video/x-raw,framerate=10/1 ! " +
                         launch(folder, "name=publish"));
  const Owned<GstElement> publish = pipeline.find("publish");
  ASSERT_TRUE(pipeline.reaches(GST_STATE_PAUSED));
  for (GstElement* asked : {pipeline.get(), publish.get()}) {
    EXPECT_TRUE(gst_element_seek_simple(asked, GST_FORMAT_TIME, GST_SEEK_FLAG_FLUSH, GST_SECOND));
    EXPECT_TRUE(pipeline.reaches(GST_STATE_PAUSED));
    EXPECT_TRUE(
        gst_element_send_event(asked, gst_event_new_step(GST_FORMAT_BUFFERS, 2, 1, TRUE, FALSE)));
    EXPECT_TRUE(pipeline.reaches(GST_STATE_PAUSED));
  }
}

TEST(PublishInTheMiddle, AnswersSeeks) {
  const TempFolder folder;
  const Running pipeline("videotestsrc ! " + launch(folder, "name=publish") + " ! fakesink");
  ASSERT_TRUE(pipeline.reaches(GST_STATE_PAUSED));
  const Owned<GstElement> publish = pipeline.find("publish");
  EXPECT_TRUE(gst_element_seek_simple(publish.get(), GST_FORMAT_TIME, GST_SEEK_FLAG_FLUSH, 0));
}

guint64 frames_of(GstElement* sink) {
  GstStructure* stats = nullptr;
  g_object_get(sink, "stats", &stats, nullptr);
  guint64 rendered = 0;
  gst_structure_get_uint64(stats, "rendered", &rendered);
  gst_structure_free(stats);
  return rendered;
}

class LinkedLater : public testing::TestWithParam<GstState> {};

// The sink of its own had all frames, and this one none.
TEST_P(LinkedLater, GetsFrames) {
  const TempFolder folder;
  const Running pipeline("videotestsrc is-live=true ! " + launch(folder, "name=publish"));
  const bool is_playing = GetParam() == GST_STATE_PLAYING;
  gst_element_set_state(pipeline.get(), GetParam());
  EXPECT_TRUE(becomes([&] { return !is_playing || lines_in(folder) > 2; }));
  GstElement* sink = gst_element_factory_make("fakesink", nullptr);
  gst_bin_add(GST_BIN(pipeline.get()), sink);
  const Owned<GstElement> publish = pipeline.find("publish");
  gst_element_sync_state_with_parent(sink);
  ASSERT_TRUE(gst_element_link(publish.get(), sink));
  gst_element_set_state(pipeline.get(), GST_STATE_PLAYING);
  EXPECT_TRUE(becomes([&] { return frames_of(sink) > 2; }));
  const auto lines = lines_in(folder);
  EXPECT_TRUE(becomes([&] { return lines_in(folder) > lines; }));
}

INSTANTIATE_TEST_SUITE_P(All, LinkedLater, testing::Values(GST_STATE_PLAYING, GST_STATE_PAUSED),
                         [](const auto& row) { return gst_element_state_get_name(row.param); });

// GES and players ask each element for it.
TEST(PublishAtTheEnd, HasChildrenWithFactories) {
  const TempFolder folder;
  const Running pipeline("videotestsrc num-buffers=1 ! " + launch(folder));
  ASSERT_TRUE(pipeline.reaches(GST_STATE_PAUSED));
  int elements = 0;
  GstIterator* all = gst_bin_iterate_recurse(GST_BIN(pipeline.get()));
  for (GValue item = G_VALUE_INIT; gst_iterator_next(all, &item) == GST_ITERATOR_OK;
       g_value_unset(&item)) {
    auto* element = GST_ELEMENT(g_value_get_object(&item));
    EXPECT_NE(gst_element_get_factory(element), nullptr) << GST_ELEMENT_NAME(element);
    ++elements;
  }
  gst_iterator_free(all);
  EXPECT_EQ(elements, 4);
}

// A buffer list, as of rtp elements: each frame has its line.
TEST(PublishInTheMiddle, TakesListsOfFrames) {
  const TempFolder folder;
  {
    ElementHarness harness(launch(folder), kCaps);
    GstBufferList* list = gst_buffer_list_new();
    for (guint i = 0; i < 3; ++i) gst_buffer_list_add(list, frame_with({}, i).release());
    EXPECT_EQ(gst_pad_push_list(harness.get()->srcpad, list), GST_FLOW_OK);
  }
  EXPECT_EQ(lines_in(folder), 3);
}

TEST(Publish, SurvivesAHundredStateCycles) {
  const TempFolder folder;
  ElementHarness harness(launch(folder), kCaps);
  for (int i = 0; i < 100; ++i) {
    ASSERT_EQ(gst_element_set_state(harness.element(), GST_STATE_NULL), GST_STATE_CHANGE_SUCCESS);
    gst_harness_play(harness.get());
    gst_harness_set_src_caps_str(harness.get(), kCaps);
    ASSERT_EQ(harness.push(inferred_frame(0)), GST_FLOW_OK) << i;
    ASSERT_NE(harness.pull(), nullptr) << i;
  }
  EXPECT_EQ(gstnpu_test::open_files(folder.file("out.jsonl")), 1u);
}

}  // namespace
}  // namespace publish_test
