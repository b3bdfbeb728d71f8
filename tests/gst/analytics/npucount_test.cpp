#include <gst/video/gstvideometa.h>
#include <gtest/gtest.h>

#include <fstream>
#include <string>
#include <vector>

#include "hand_made_frames.hpp"
#include "leak_check.hpp"

namespace npucount_test {
namespace {

using gstnpu_test::ElementHarness;
using gstnpu_test::frame_with;
using gstnpu_test::Owned;
using gstnpu_test::TempFolder;

[[maybe_unused]] const bool kNeedsTracer = gstnpu_test::need_tracer(__FILE__);
const char* const kCaps = "video/x-raw,format=NV12,width=640,height=480,framerate=10/1";
const std::string kDoor =
    R"({"zones":[{"name":"door","points":[[0.25,0.25],[0.75,0.25],[0.75,0.75],[0.25,0.75]]}]})";
const std::string kGate = R"({"lines":[{"name":"gate","points":[[0,0.5],[1,0.5]]}]})";

/// As gst-launch takes it.
std::string quoted(const std::string& text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"') {
      out += '\\';
    }
    out += c;
  }
  return out + "\"";
}

struct Seen {
  int id;  // below zero: none
  guint x, y;
  const char* label = "car";
};

/// Boxes of 20x20 pixels with their upper left corner there.
Owned<GstBuffer> frame_of(int index, const std::vector<Seen>& objects) {
  Owned<GstBuffer> frame = frame_with({}, static_cast<GstClockTime>(index) * 100 * GST_MSECOND);
  for (const Seen& object : objects) {
    auto* region = gst_buffer_add_video_region_of_interest_meta(frame.get(), object.label, object.x,
                                                                object.y, 20, 20);
    if (object.id < 0) continue;
    gst_video_region_of_interest_meta_add_param(
        region, gst_structure_new("object_id", "id", G_TYPE_INT, object.id, nullptr));
  }
  return frame;
}

/// npupublish's lines of these frames.
std::vector<std::string> lines_of(const std::string& element,
                                  const std::vector<std::vector<Seen>>& frames) {
  const TempFolder folder;
  {
    ElementHarness harness(element + " ! npupublish location=" + folder.file("out.jsonl"), kCaps);
    for (std::size_t i = 0; i < frames.size(); ++i) {
      EXPECT_EQ(harness.push(frame_of(static_cast<int>(i), frames[i])), GST_FLOW_OK)
          << harness.message(GST_MESSAGE_ERROR);
    }
  }
  std::istringstream text(folder.read("out.jsonl"));
  std::vector<std::string> lines;
  for (std::string line; std::getline(text, line);) lines.push_back(line);
  return lines;
}

std::string counts_of(const std::string& line) {
  const auto at = line.find(R"("zones")");
  return at == std::string::npos ? "" : line.substr(at, line.size() - at - 1);
}

TEST(NpuCount, TellsWhoIsInAZone) {
  const auto lines = lines_of("npucount places=" + quoted(kDoor),
                              {{{7, 10, 200}}, {{7, 300, 200}}, {{7, 310, 200}}, {{7, 600, 200}}});
  ASSERT_EQ(lines.size(), 4U);
  EXPECT_EQ(counts_of(lines[0]),
            R"("zones":[{"name":"door","inside":[],"entered":0,"left":0,"mean_seconds":null}],)"
            R"("lines":[],"events":[])");
  EXPECT_EQ(counts_of(lines[1]),
            R"("zones":[{"name":"door","inside":[{"tracking_id":7,"seconds":0.0}],"entered":1,)"
            R"("left":0,"mean_seconds":null}],"lines":[],)"
            R"("events":[{"event":"entered","place":"door","tracking_id":7}])");
  EXPECT_EQ(counts_of(lines[3]),
            R"("zones":[{"name":"door","inside":[],"entered":1,"left":1,"mean_seconds":0.2}],)"
            R"("lines":[],)"
            R"("events":[{"event":"left","place":"door","tracking_id":7,"seconds":0.2}])");
}

// As where an element upstream is linked anew.
TEST(NpuCount, GoesOnOverASegmentThatIsSentAgain) {
  const TempFolder folder;
  ElementHarness harness(
      "npucount places=" + quoted(kDoor) + " ! npupublish location=" + folder.file("out.jsonl"),
      kCaps);
  GstSegment segment;
  gst_segment_init(&segment, GST_FORMAT_TIME);
  for (int i = 0; i < 4; ++i) {
    EXPECT_TRUE(gst_harness_push_event(harness.get(), gst_event_new_segment(&segment)));
    EXPECT_EQ(harness.push(frame_of(i, {{7, 300, 200}})), GST_FLOW_OK);
  }
  gst_harness_push_event(harness.get(), gst_event_new_eos());
  const std::string text = folder.read("out.jsonl");
  EXPECT_NE(text.find(R"("inside":[{"tracking_id":7,"seconds":0.3}],"entered":1,)"),
            std::string::npos)
      << text;
}

// The lower edge counts: a box whose middle is above the line stands below it.
TEST(NpuCount, CountsWhoCrossesALineByItsLowerEdge) {
  const auto lines =
      lines_of("npucount places=" + quoted(kGate), {{{1, 300, 200}}, {{1, 300, 225}}});
  EXPECT_NE(lines.at(1).find(R"("lines":[{"name":"gate","forward":1,"backward":0}])"),
            std::string::npos)
      << lines.at(1);
}

TEST(NpuCount, OrByItsMiddle) {
  const auto lines = lines_of("npucount anchor=center places=" + quoted(kGate),
                              {{{1, 300, 200}}, {{1, 300, 225}}});
  EXPECT_NE(lines.at(1).find(R"("forward":0)"), std::string::npos) << lines.at(1);
}

// Boxes of one who stands on the line, as detectors give them.
TEST(NpuCount, CountsWhoTremblesOnce) {
  const std::vector<std::vector<Seen>> frames = {
      {{1, 300, 200}}, {{1, 300, 222}}, {{1, 300, 219}}, {{1, 300, 223}}, {{1, 300, 240}}};
  const auto lines = lines_of("npucount places=" + quoted(kGate), frames);
  EXPECT_NE(lines.at(4).find(R"("forward":1,"backward":0)"), std::string::npos) << lines.at(4);
  const auto exact = lines_of("npucount margin=0 places=" + quoted(kGate), frames);
  EXPECT_NE(exact.at(4).find(R"("forward":2,"backward":1)"), std::string::npos) << exact.at(4);
}

TEST(NpuCount, SeesWhoStandsOnTheFramesLowerEdge) {
  const std::string floor =
      R"({"zones":[{"name":"floor","points":[[0,0.5],[1,0.5],[1,1],[0,1]]}]})";
  for (const guint top : {460U, 470U}) {  // whole, and reaching out of the frame
    const auto lines = lines_of("npucount places=" + quoted(floor), {{{7, 300, top}}});
    EXPECT_NE(lines.at(0).find(R"("entered":1)"), std::string::npos) << lines.at(0);
  }
  const auto lines = lines_of("npucount places=" + quoted(floor), {{{7, 300, 480}}});
  EXPECT_NE(lines.at(0).find(R"("entered":0)"), std::string::npos) << "not in the frame";
}

TEST(NpuCount, CountsWhatItIsAskedFor) {
  for (const std::string classes : {"person,dog", "\"person, dog\""}) {
    const auto lines = lines_of("npucount object-class=" + classes + " places=" + quoted(kDoor),
                                {{{1, 300, 200}, {2, 300, 200, "dog"}}});
    EXPECT_NE(lines.at(0).find(R"("entered":1)"), std::string::npos) << lines.at(0);
  }
}

TEST(NpuCount, AddsToWhatAnotherCounted) {
  const auto lines =
      lines_of("npucount places=" + quoted(kDoor) + " ! npucount places=" + quoted(kGate),
               {{{1, 300, 200}}});
  EXPECT_NE(lines.at(0).find(R"("name":"door")"), std::string::npos) << lines.at(0);
  EXPECT_NE(lines.at(0).find(R"("name":"gate")"), std::string::npos) << lines.at(0);
}

TEST(NpuCount, GoesOnFromEarlierCounts) {
  const std::vector<std::vector<Seen>> frames = {
      {{7, 10, 200}}, {{7, 300, 200}}, {{7, 310, 200}}, {{7, 600, 200}}};
  const auto first = lines_of("npucount places=" + quoted(kDoor), frames);
  const auto second = lines_of(
      "npucount places=" + quoted(kDoor) + " initial-counts=" + quoted(first.at(3)), frames);
  EXPECT_NE(second.at(0).find(R"("inside":[],"entered":1,"left":1,"mean_seconds":0.2)"),
            std::string::npos)
      << second.at(0);
  EXPECT_NE(second.at(3).find(R"("entered":2,"left":2,"mean_seconds":0.2)"), std::string::npos)
      << second.at(3);
}

TEST(NpuCount, IgnoresCountsOfPlacesThatItDoesNotHave) {
  const std::string before =
      R"({"lines":[{"name":"gate","forward":5,"backward":3},{"name":"gone","forward":9}]})";
  const auto lines = lines_of(
      "npucount places=" + quoted(kGate) + " initial-counts=" + quoted(before), {{{1, 300, 200}}});
  EXPECT_NE(lines.at(0).find(R"("lines":[{"name":"gate","forward":5,"backward":3}])"),
            std::string::npos)
      << lines.at(0);
}

TEST(NpuCount, ReadsPlacesFromAFile) {
  const TempFolder folder;
  std::ofstream(folder.file("places.json")) << kGate;
  const auto lines = lines_of("npucount location=" + folder.file("places.json"), {{{1, 3, 3}}});
  EXPECT_NE(lines.at(0).find(R"("name":"gate")"), std::string::npos) << lines.at(0);
}

TEST(NpuCount, TellsTheApplication) {
  ElementHarness harness("npucount places=" + quoted(kDoor), kCaps);
  ASSERT_EQ(harness.push(frame_of(0, {{7, 300, 200}})), GST_FLOW_OK);
  const std::string told = harness.message(GST_MESSAGE_ELEMENT);
  EXPECT_NE(told.find("event=(string)entered"), std::string::npos) << told;
  EXPECT_NE(told.find("id=(guint64)7"), std::string::npos) << told;
}

// The application hears a message in the thread of the stream, and may seek there at once.
TEST(NpuCount, TellsAllOfAFrameThatIsFlushedMeanwhile) {
  const std::string name = "a name that is longer than what std::string holds without the heap";
  ElementHarness harness("npucount places=" + quoted(R"({"zones":[{"name":")" + name +
                                                     R"(","points":[[0,0],[1,0],[1,1],[0,1]]}]})"),
                         kCaps);
  struct Application {
    GstHarness* harness;
    std::vector<std::string> places;
  } application{harness.get(), {}};
  const auto hear = [](GstBus*, GstMessage* message, gpointer data) {
    auto* self = static_cast<Application*>(data);
    if (GST_MESSAGE_TYPE(message) == GST_MESSAGE_ELEMENT) {
      self->places.emplace_back(
          gst_structure_get_string(gst_message_get_structure(message), "place"));
      gst_harness_push_event(self->harness, gst_event_new_flush_start());
      gst_harness_push_event(self->harness, gst_event_new_flush_stop(FALSE));
    }
    return GST_BUS_PASS;
  };
  gst_bus_set_sync_handler(harness.bus(), hear, &application, nullptr);
  harness.push(frame_of(0, {{1, 300, 200}, {2, 300, 200}, {3, 300, 200}}));
  gst_bus_set_sync_handler(harness.bus(), nullptr, nullptr, nullptr);
  EXPECT_EQ(application.places, std::vector<std::string>(3, name));
}

TEST(NpuCount, SaysThatObjectsHaveNoIdentities) {
  ElementHarness harness("npucount places=" + quoted(kDoor), kCaps);
  for (int i = 0; i < 40; ++i) {
    ASSERT_EQ(harness.push(frame_of(i, {{-1, 300, 200}})), GST_FLOW_OK);
  }
  EXPECT_NE(harness.message(GST_MESSAGE_WARNING).find("put nputrack in front"), std::string::npos);
  EXPECT_EQ(harness.message(GST_MESSAGE_WARNING), "") << "once";
}

// nputrack gives an object that comes later its identity when it is found again.
TEST(NpuCount, DoesNotMissIdentitiesOfWhatHasJustCome) {
  ElementHarness harness("nputrack min-hits=3 ! npucount places=" + quoted(kDoor), kCaps);
  for (int i = 0; i < 40; ++i) {
    const std::vector<Seen> seen = i < 5 ? std::vector<Seen>{} : std::vector<Seen>{{-1, 300, 200}};
    ASSERT_EQ(harness.push(frame_of(i, seen)), GST_FLOW_OK);
  }
  EXPECT_EQ(harness.message(GST_MESSAGE_WARNING), "");
}

TEST(NpuCount, AFlushForgetsWhoWasThere) {
  const TempFolder folder;
  {
    ElementHarness harness(
        "npucount places=" + quoted(kGate) + " ! npupublish location=" + folder.file("out.jsonl"),
        kCaps);
    ASSERT_EQ(harness.push(frame_of(0, {{1, 300, 100}})), GST_FLOW_OK);
    gst_harness_push_event(harness.get(), gst_event_new_flush_start());
    gst_harness_push_event(harness.get(), gst_event_new_flush_stop(TRUE));
    GstSegment segment;
    gst_segment_init(&segment, GST_FORMAT_TIME);
    gst_harness_push_event(harness.get(), gst_event_new_segment(&segment));
    ASSERT_EQ(harness.push(frame_of(1, {{1, 300, 400}})), GST_FLOW_OK);
  }
  EXPECT_EQ(folder.read("out.jsonl").find(R"("forward":1)"), std::string::npos);
}

TEST(NpuCount, ACutForgetsWhoWasThere) {
  ElementHarness harness("npucount places=" + quoted(kDoor), kCaps);
  const auto inside = [&harness](Owned<GstBuffer> frame) {
    EXPECT_EQ(harness.push(std::move(frame)), GST_FLOW_OK);
    GstNpuZone zone = {};
    EXPECT_TRUE(gst_npu_buffer_get_zone(harness.pull().get(), 0, &zone));
    return zone.inside;
  };
  EXPECT_EQ(inside(frame_of(5, {{1, 300, 200}})), 1U);
  EXPECT_EQ(inside(frame_of(6, {})), 1U);
  Owned<GstBuffer> next = frame_of(3, {});
  GST_BUFFER_FLAG_SET(next.get(), GST_BUFFER_FLAG_DISCONT);
  EXPECT_EQ(inside(std::move(next)), 0U);
}

// Half as large, what stood still would have crossed the line.
TEST(NpuCount, FramesOfAnotherSizeForgetWhoWasThere) {
  const TempFolder folder;
  {
    ElementHarness harness(
        "npucount places=" + quoted(kGate) + " ! npupublish location=" + folder.file("out.jsonl"),
        kCaps);
    ASSERT_EQ(harness.push(frame_of(0, {{1, 300, 150}})), GST_FLOW_OK);
    const char* const kHalf = "video/x-raw,format=NV12,width=320,height=240,framerate=10/1";
    gst_harness_set_caps_str(harness.get(), kHalf, kHalf);
    ASSERT_EQ(harness.push(frame_of(1, {{1, 300, 150}})), GST_FLOW_OK);
  }
  EXPECT_EQ(folder.read("out.jsonl").find(R"("forward":1)"), std::string::npos);
}

TEST(NpuCount, SurvivesAHundredStateCycles) {
  ElementHarness harness("npucount places=" + quoted(kDoor), kCaps);
  for (int i = 0; i < 100; ++i) {
    ASSERT_EQ(harness.push(frame_of(i, {{i, 300, 200}})), GST_FLOW_OK);
    gst_harness_set_src_caps_str(harness.get(), kCaps);
  }
}

// ---- What is no place

struct Refused {
  const char* name;
  const char* places;
  const char* words;
};

class Places : public testing::TestWithParam<Refused> {};

std::string refusal(const std::string& places, const std::string& initial_counts = "") {
  GstElement* element = gst_element_factory_make("npucount", nullptr);
  const Owned<GstElement> owned(GST_ELEMENT(gst_object_ref_sink(element)));
  const Owned<GstBus> bus(gst_bus_new());
  gst_element_set_bus(element, bus.get());
  g_object_set(element, "places", places.c_str(), "initial-counts", initial_counts.c_str(),
               nullptr);
  EXPECT_EQ(gst_element_set_state(element, GST_STATE_PAUSED), GST_STATE_CHANGE_FAILURE);
  const Owned<GstMessage> message(gst_bus_pop_filtered(bus.get(), GST_MESSAGE_ERROR));
  gst_element_set_bus(element, nullptr);
  gst_element_set_state(element, GST_STATE_NULL);
  if (!message) return "";
  GError* error = nullptr;
  gst_message_parse_error(message.get(), &error, nullptr);
  const std::string words = error->message;
  g_error_free(error);
  return words;
}

TEST(NpuCount, RefusesCountsThatAreNone) {
  for (const char* counts :
       {R"([])", R"({"lines":[{"name":"gate","forward":-1}]})", R"({"lines":[{"forward":1}]})",
        R"({"lines":{}})", "null", R"({"lines":[{"name":"gate","forward":null}]})",
        R"({"lines":[{"name":"gate","forward":NaN}]})"}) {
    EXPECT_EQ(refusal(kGate, counts).rfind("initial-counts: ", 0), 0U) << counts;
  }
}

TEST_P(Places, AreRefusedWithTheirPlace) {
  const std::string words = refusal(GetParam().places);
  EXPECT_NE(words.find(GetParam().words), std::string::npos) << words;
  EXPECT_TRUE(g_utf8_validate(words.c_str(), -1, nullptr)) << words;
}

INSTANTIATE_TEST_SUITE_P(
    All, Places,
    testing::Values(
        Refused{"nothing", "", "npucount needs zones or lines"},
        Refused{"no_json", "{zones", "cannot read places: it is no JSON: line 1, column 2"},
        Refused{"comma", "{\"zones\": [\n  {\"name\": \"a\",\n   }\n]}",
                "it is no JSON: line 3, column 4"},
        Refused{"cut_off", "{\"zones\": [", "it is no JSON: line 1, column 12"},
        Refused{"no_utf8", "{\"zones\":[{\"name\":\"caf\xe9\"}]}", "places: it is not UTF-8 text"},
        Refused{"open_quote", "{\"zones\": [\n {\"name\": \"a,\n", "it is no JSON: line 2, column"},
        Refused{"blank", " ", "it is no JSON: line 1, column 2"},
        Refused{"no_object", "[]", "places: must be an object"},
        Refused{"neither", "{}", "places: has neither zones nor lines"},
        Refused{"unknown_key", R"({"areas":[]})", "unknown key \"areas\""},
        Refused{"key_twice", R"({"lines":[{"name":"a","points":[[0,0],[1,1]]}],"lines":[]})",
                "places: it has the key \"lines\" twice"},
        Refused{"no_name", R"({"zones":[{"points":[]}]})", "key \"zones/0\": needs a \"name\""},
        Refused{"same_name",
                R"({"lines":[{"name":"a","points":[[0,0],[1,1]]},{"name":"a","points":[]}]})",
                "key \"lines/1\": has the name \"a\""},
        Refused{"no_points", R"({"zones":[{"name":"a"}]})", "key \"zones/0\": needs \"points\""},
        Refused{"flat", R"({"zones":[{"name":"a","points":[0,0,1,1]}]})",
                "key \"zones/0/points/0\": must be two numbers"},
        Refused{"no_pair", R"({"zones":[{"name":"a","points":[[0,0],[1]]}]})",
                "key \"zones/0/points/1\": must be two numbers"},
        Refused{"text_for_a_number", R"({"zones":[{"name":"a","points":[["0",0]]}]})",
                "key \"zones/0/points/0/0\": is no number"},
        Refused{"three_for_a_line", R"({"lines":[{"name":"a","points":[[0,0],[1,1],[0,1]]}]})",
                "key \"lines/0\": needs two points"},
        Refused{"pixels", R"({"zones":[{"name":"a","points":[[0,0],[640,0],[0,480]]}]})",
                "zone \"a\" has a corner outside of the frame"},
        Refused{"huge_number", R"({"zones":[{"name":"a","points":[[0,0],[1e999,0],[0,1]]}]})",
                "places: it has a number that is too large: line 1, column"}),
    [](const auto& row) { return std::string(row.param.name); });

TEST(PlacesFile, ThatHasTooManyTellsHowMany) {
  std::string corners = "[0,0]";
  for (int i = 0; i < 1024; ++i) corners += ",[0,1]";
  const std::string text = R"({"zones":[{"name":"a","points":[)" + corners + "]}]}";
  EXPECT_NE(
      refusal(text).find("key \"zones/0/points\": has 1025 of them, and may have 1024 at most"),
      std::string::npos)
      << refusal(text);
  std::string lines = R"({"name":"a","points":[]})";
  for (int i = 0; i < 256; ++i) lines += ",{}";
  EXPECT_NE(refusal(R"({"lines":[)" + lines + "]}").find("key \"lines\": has 257 of them"),
            std::string::npos);
}

TEST(PlacesFile, ThatIsNoneIsAnError) {
  for (const std::string path : {"/nonexistent/places.json", "/dev/zero", "/"}) {
    GstElement* element = gst_element_factory_make("npucount", nullptr);
    const Owned<GstElement> owned(GST_ELEMENT(gst_object_ref_sink(element)));
    g_object_set(element, "location", path.c_str(), nullptr);
    EXPECT_EQ(gst_element_set_state(element, GST_STATE_PAUSED), GST_STATE_CHANGE_FAILURE) << path;
    gst_element_set_state(element, GST_STATE_NULL);
  }
}

}  // namespace
}  // namespace npucount_test
