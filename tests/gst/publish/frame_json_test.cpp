#include "publish/frame_json.hpp"

#include <gtest/gtest.h>

#include "support/foreign_locale.hpp"

namespace gstnpu {
namespace {

FrameRecord record() {
  FrameRecord record;
  record.frame = 1234567;
  record.size = npu::vision::FrameSize{1920, 1080};
  record.inference_ns = 1'234'567;
  Region region;
  region.label = "cat";
  region.confidence = 0.875F;
  region.x = 1234.5;
  record.regions = {region};
  record.tensors = {{{.name = "out", .type = "f32", .shape = {1, 84, 8400}}}};
  return record;
}

TEST(FrameJson, IsTheSameInEveryLocale) {
  const auto expected = to_json_line(record());
  EXPECT_NE(expected.find("1234.5"), std::string::npos) << expected;
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
  with_classes.regions = {
      {.label = "car", .width = 8, .height = 9, .classes = {{"red", 2, 0.75}, {"van", {}, {}}}},
      {.label = "bus", .width = 8, .height = 9}};
  const std::string line = to_json_line(with_classes);
  EXPECT_NE(
      line.find(R"("h":9.0,"classifications":[{"label":"red","label_id":2,"confidence":0.75},)"
                R"({"label":"van","label_id":null,"confidence":null}]},{"label":"bus")"),
      std::string::npos)
      << line;
  EXPECT_EQ(line.find("classifications"), line.rfind("classifications")) << line;
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
  EXPECT_NE(line.find(R"("model":"detector.xml")"), std::string::npos) << line;
  EXPECT_NE(line.find(R"("classifications":[{"label":"blue","label_id":1,"confidence":0.75},)"
                      R"({"label":"red","label_id":0,"confidence":0.75}],"anomaly":0.75})"),
            std::string::npos)
      << line;
}

}  // namespace
}  // namespace gstnpu
