#include <gtest/gtest.h>

#include <limits>
#include <memory>
#include <utility>
#include <vector>

#include "publish/frame_json.hpp"

namespace gstnpu::dlstreamer_json_test {
namespace {

std::shared_ptr<const FrameAnswer> answer_of(std::vector<FoundObject> objects) {
  FrameAnswer answer;
  answer.objects = std::move(objects);
  return std::make_shared<FrameAnswer>(std::move(answer));
}

FoundObject car() {
  FoundObject region;
  region.label = "car";
  region.label_id = 2;
  region.confidence = 0.75;
  region.x = 79.75;
  region.y = 40;
  region.width = 40.5;
  region.height = 20;
  region.analytics_id = 7;
  return region;
}

FrameRecord record() {
  FrameRecord record;
  record.frame = 5;
  record.size = npu::vision::FrameSize{640, 480};
  record.pts_ns = 99;
  record.stream_time_ns = 33333333;
  record.model = "models/net.xml";
  record.inference_ns = 1'234'567;
  return record;
}

// As of a model that has learnt badly.
TEST(DlstreamerJson, HasNoPixelsOfWhatIsNoNumber) {
  FrameRecord frame = record();
  frame.size.reset();
  FoundObject region = car();
  region.x = std::numeric_limits<double>::quiet_NaN();
  region.y = -1e17;
  region.height = std::numeric_limits<double>::infinity();
  frame.answer = answer_of({region});
  EXPECT_EQ(to_dlstreamer_line(frame),
            R"({"objects":[{"detection":{"confidence":0.75,"label":"car","label_id":2},)"
            R"("h":null,"region_id":7,"roi_type":"car","w":null,"x":null,"y":null}],)"
            R"("timestamp":33333333})"
            "\n");
}

// As gvametaconvert does, whose keys are what the classes are of.
TEST(DlstreamerJson, HasTheIdentityAndClassesByWhatTheyAreOf) {
  FrameRecord frame = record();
  frame.size.reset();
  FoundObject region = car();
  region.identity = Identity{12};
  region.classes = {{"red", 3, 0.5, "colors.xml", "color"},
                    {"van", 0, 0.75, "types.xml"},
                    {"bus", {}, {}},
                    {"blue", 1, 0.25, "", "color"},
                    {"odd", 1, 0.25, "", "w"}};
  frame.answer = answer_of({region});
  EXPECT_EQ(
      to_dlstreamer_line(frame),
      R"({"objects":[{"classification":{"confidence":0.75,"label":"van","label_id":0,)"
      R"("model":{"name":"types.xml"}},"classification_2":{"label":"bus"},"color":{"confidence":0.5,"label":"red","label_id":3,)"
      R"("model":{"name":"colors.xml"}},)"
      R"("color_2":{"confidence":0.25,"label":"blue","label_id":1},)"
      R"("detection":{"confidence":0.75,"label":"car","label_id":2},)"
      R"("h":20,"id":12,"region_id":7,"roi_type":"car","w":40,)"
      R"("w_2":{"confidence":0.25,"label":"odd","label_id":1},"x":80,"y":40}],)"
      R"("timestamp":33333333})"
      "\n");
}

TEST(DlstreamerJson, HasTheClassesOfTheFrameAsAnObject) {
  FrameRecord frame = record();
  FrameAnswer answer;
  answer.classes = {{"cat", 1, 0.5, "models/net.xml"}};
  frame.answer = std::make_shared<FrameAnswer>(std::move(answer));
  EXPECT_EQ(to_dlstreamer_line(frame),
            R"({"objects":[{"classification":{"confidence":0.5,"label":"cat","label_id":1,)"
            R"("model":{"name":"models/net.xml"}},"h":480,"w":640,"x":0,"y":0}],)"
            R"("resolution":{"height":480,"width":640},"timestamp":33333333})"
            "\n");
}

TEST(DlstreamerJson, HasSourceTimeAndTensorsWhereAsked) {
  FrameRecord frame = record();
  frame.stream = "gate";
  frame.time = "2026-01-31T12:00:00.040000Z";
  frame.tensors = {{{.name = "out", .type = "float32", .shape = {1, 84, 8400}},
                    {.name = "ids", .type = "int64", .shape = {1}}}};
  EXPECT_EQ(to_dlstreamer_line(frame),
            R"({"resolution":{"height":480,"width":640},"source":"gate",)"
            R"("system_timestamp":"2026-01-31T12:00:00.040000Z","tensors":[)"
            R"({"dims":[1,84,8400],"layer_name":"out","model_name":"models/net.xml",)"
            R"("precision":"FP32"},)"
            R"({"dims":[1],"layer_name":"ids","model_name":"models/net.xml","precision":"I64"}],)"
            R"("timestamp":33333333})"
            "\n");
}

}  // namespace
}  // namespace gstnpu::dlstreamer_json_test
