#include "publish/frame_json.hpp"

#include <gtest/gtest.h>

#include <limits>
#include <memory>
#include <utility>
#include <vector>

#include "support/expect.hpp"
#include "support/foreign_locale.hpp"

#include "said.hpp"

namespace gstnpu::frame_json_test {
namespace {

std::shared_ptr<const FrameAnswer> answer_of(std::vector<FoundObject> objects) {
  FrameAnswer answer;
  answer.objects = std::move(objects);
  return std::make_shared<FrameAnswer>(std::move(answer));
}

FrameRecord record() {
  FrameRecord record;
  record.frame = 1234567;
  record.size = npu::vision::FrameSize{1920, 1080};
  record.inference_ns = 1'234'567;
  FoundObject region;
  region.label = "cat";
  region.confidence = 0.875F;
  region.x = 1234.5;
  record.answer = answer_of({region});
  record.tensors = {{{.name = "out", .type = "f32", .shape = {1, 84, 8400}}}};
  return record;
}

TEST(FrameJson, HasNoNegativeZero) {
  FrameRecord one = record();
  FoundObject region = one.answer->objects.at(0);
  region.x = -0.001;
  one.answer = answer_of({region});
  EXPECT_EQ(to_json_line(one).find("-0"), std::string::npos) << to_json_line(one);
}

TEST(FrameJson, IsTheSameInEveryLocale) {
  const auto expected = to_json_line(record());
  EXPECT_TRUE(has(expected, "1234.5"));
  {
    const npu::test::ForeignNumbers german;
    EXPECT_EQ(to_json_line(record()), expected);
  }
  const npu::test::ForeignLanguage german("de_DE");
  if (!german.is_usable()) {
    GTEST_SKIP() << "localedef cannot make de_DE here";
  }
  EXPECT_EQ(to_json_line(record()), expected);
}

TEST(FrameJson, HasClassesUnderTheirObject) {
  FrameRecord with_classes;
  with_classes.answer = answer_of(
      {{.label = "car", .width = 8, .height = 9, .classes = {{"red", 2, 0.75}, {"van", {}, {}}}},
       {.label = "bus", .width = 8, .height = 9}});
  const std::string line = to_json_line(with_classes);
  EXPECT_TRUE(has(line,
                  R"("h":9.0,"classifications":[{"label":"red","label_id":2,"confidence":0.75},)"
                  R"({"label":"van","label_id":null,"confidence":null}]},{"label":"bus")"));
  EXPECT_EQ(line.find("classifications"), line.rfind("classifications")) << line;
}

TEST(FrameJson, HasTheSizeOfAMaskAsRowsAndColumns) {
  FrameRecord one;
  one.answer = answer_of({{.label = "cat",
                           .mask = FoundMask{.x = 4,
                                             .y = 6,
                                             .width = 30,
                                             .height = 10,
                                             .columns = 3,
                                             .rows = 2,
                                             .values = {255, 0, 0, 255, 255, 0}}}});
  const std::string line = to_json_line(one);
  EXPECT_TRUE(has(line, R"("mask":{"x":4.0,"y":6.0,"w":30.0,"h":10.0,"size":[2,3],)"
                        R"("counts":[0,1,2,2,1]})"));
}

// A frame's first model may have found objects, or nothing.
TEST(FrameJson, HasTheResultsOfEachModelOfTheFrame) {
  GstBuffer* buffer = gst_buffer_new();
  gst_buffer_add_npu_inference_meta(buffer, "detector.xml");
  gst_buffer_add_npu_inference_meta(buffer, "object.xml")->is_region = TRUE;
  npu::vision::Answer answer;
  for (const std::uint32_t label : {1U, 0U}) {
    answer.classes = {{.label_id = label, .confidence = 0.75F}};
    answer.anomaly = 0.25F + 0.5F * static_cast<float>(label);
    attach_to_frame(buffer, gst_buffer_add_npu_inference_meta(buffer, "classifier.xml"), answer,
                    npu::vision::ModelCard{.labels = {"red", "blue"}}, {64, 64});
  }
  const FrameRecord record = read_frame(buffer, npu::vision::FrameSize{64, 64}, false);
  gst_buffer_unref(buffer);
  const std::string line = to_json_line(record);
  EXPECT_TRUE(has(line, R"("model":"detector.xml")"));
  EXPECT_TRUE(has(line, R"("classifications":[{"label":"blue","label_id":1,"confidence":0.75},)"
                        R"({"label":"red","label_id":0,"confidence":0.75}],"anomaly":0.75})"));
}

std::string line_with_maps(GstBuffer* buffer) {
  constexpr npu::vision::FrameSize kFrame{64, 32};
  return to_json_line(read_frame(buffer, kFrame, false));
}

TEST(FrameJson, HasMapsInAFewWords) {
  GstBuffer* buffer = gst_buffer_new();
  npu::vision::Answer classes, depth;
  classes.class_map = {4, 2, {1, 1, 0, 1, 1, 9, 1, 1}};
  depth.value_map = {2, 1, {-1.5F, 4}};
  const npu::vision::ModelCard card{.labels = {"sky", "road"}};
  for (const npu::vision::Answer& answer : {classes, depth}) {
    GstNpuInferenceMeta* meta = gst_buffer_add_npu_inference_meta(buffer, "map.xml");
    attach_to_frame(buffer, meta, answer, card, {64, 32});
  }
  const std::string line = line_with_maps(buffer);
  gst_buffer_unref(buffer);
  const std::string place = R"("x":0.0,"y":0.0,"w":64.0,"h":32.0)";
  EXPECT_TRUE(has(line, R"("detections":[],"maps":[{"type":"classes","width":4,"height":2,)" +
                            place +
                            R"(,"classes":[{"label":"road","label_id":1,"share":0.75},)"
                            R"({"label":"sky","label_id":0,"share":0.125},)"
                            R"({"label":"class 9","label_id":9,"share":0.125}]},)"
                            R"({"type":"depth","width":2,"height":1,)" +
                            place + R"(,"min":-1.5,"max":4.0,"mean":1.25}]})"));
}

TEST(FrameJson, HasTheMapOfAnObjectUnderIt) {
  GstBuffer* buffer = gst_buffer_new();
  for (const gint id : {4, 7}) {
    gst_buffer_add_video_region_of_interest_meta(buffer, "part", 8, 8, 16, 16)->id = id;
  }
  npu::vision::Answer answer;
  answer.anomaly = 0.75F;
  answer.value_map = {2, 1, {0.25F, 0.75F}};
  for (const gint id : {7, 5}) {
    GstNpuInferenceMeta* meta = gst_buffer_add_npu_inference_meta(buffer, "parts.xml");
    meta->is_region = TRUE;
    meta->object_id = id;
    const npu::vision::ModelCard card{.task = npu::vision::Task::kAnomaly};
    meta->region_x = meta->region_y = 8;
    meta->region_w = meta->region_h = 16;
    meta->model_width = meta->model_height = 16;
    meta->offset_x = meta->offset_y = -8;
    attach_to_object(buffer, meta, answer, card, {64, 32});
  }
  const std::string line = line_with_maps(buffer);
  gst_buffer_unref(buffer);
  EXPECT_TRUE(has(line, R"("anomaly":0.75,"maps":[{"type":"anomaly","width":2,"height":1,"x":8.0,)"
                        R"("y":8.0,"w":16.0,"h":16.0,"min":0.25,"max":0.75,"mean":0.5}]}]})"));
  EXPECT_EQ(line.find("maps"), line.rfind("maps")) << "of an object that is not there: " << line;
}

TEST(FrameJson, TellsOfAMapWithoutNumbersThatItHasNone) {
  FrameAnswer answer;
  answer.maps = {{.values = {1, 1, {std::numeric_limits<float>::quiet_NaN()}}}};
  FrameRecord record;
  record.answer = std::make_shared<FrameAnswer>(std::move(answer));
  const std::string line = to_json_line(record);
  EXPECT_TRUE(
      has(line, R"("x":null,"y":null,"w":null,"h":null,"min":null,"max":null,"mean":null)"));
}

}  // namespace
}  // namespace gstnpu::frame_json_test
