// The settings that decide how nputensordec decodes: labels, thresholds, the tensor, its layout,
// anchors.
#include "analytics/decoding.hpp"

namespace gstnpu_test::tensordec_choice_test {
namespace {

[[maybe_unused]] const bool kNeedsTracer = need_tracer(__FILE__);

const std::string kOf = std::string(kDetect) + ' ';  // and further properties

// ---- Labels and thresholds, of two objects: the second class by 0.75, and the first by 0.625

struct SourcesRow {
  const char* name;
  std::string launch;
  const char* model_labels;
  const char* info_file;  // beside the model, which is net.xml
  Labels found;
};

void PrintTo(const SourcesRow& row, std::ostream* out) {
  *out << row.name;
}

class TensorDecSources : public testing::TestWithParam<SourcesRow> {};

TEST_P(TensorDecSources, GoBeforeOneAnother) {
  const SourcesRow& row = GetParam();
  const TempFolder folder;
  if (row.info_file) {
    folder.write(row.info_file, kModelInfo);
  }
  Owned<GstBuffer> frame =
      frame_of_model({two_objects()}, row.model_labels, folder.file("net.xml"));
  EXPECT_EQ(labels_of(row.launch, std::move(frame)), row.found);
}

INSTANTIATE_TEST_SUITE_P(
    All, TensorDecSources,
    testing::Values(
        SourcesRow{"numbers", kDetect, nullptr, nullptr, {"class 1", "class 0"}},
        SourcesRow{"labels_of_the_model", kDetect, "cat dog", nullptr, {"dog", "cat"}},
        SourcesRow{"labels_of_model_info_before_the_models",
                   "nputensordec threshold=0.5",
                   "cat dog",
                   "net.modelinfo",
                   {"blue", "red"}},
        SourcesRow{"labels_of_the_user_first",
                   "nputensordec threshold=0.5 labels=a,b",
                   nullptr,
                   "net.modelinfo",
                   {"b", "a"}},
        SourcesRow{"threshold_of_model_info", kDetect, nullptr, "net.xml.modelinfo", {"blue"}},
        SourcesRow{"threshold_of_the_user_first",
                   "nputensordec threshold=0.8",
                   nullptr,
                   "net.modelinfo",
                   {}},
        SourcesRow{
            "the_most_detections_asked", kOf + "max-detections=1", nullptr, nullptr, {"class 1"}}),
    [](const auto& row) { return std::string(row.param.name); });

TEST(TensorDecLabels, AreThoseOfTheFrameThoughTheModelIsTheSame) {
  ElementHarness harness(kDetect, kCaps);
  for (const std::string labels : {"cat dog", "moon sun", "cat dog"}) {
    const Owned<GstBuffer> out =
        decoded_by(harness, frame_of_model({two_objects()}, labels.c_str()));
    const std::vector<Roi> found = rois(out.get());
    ASSERT_EQ(found.size(), 2u);
    EXPECT_EQ(found[1].label + (" " + found[0].label), labels);
  }
}

TEST(TensorDecLabels, ComeFromAFile) {
  const TempFolder folder;
  const std::string file = folder.write("labels.txt", "sun\nmoon\n");
  EXPECT_EQ(labels_of("nputensordec labels-file=" + file, frame_with({two_objects()})),
            (Labels{"moon", "sun"}));
}

TEST(TensorDecLabels, MissingFileIsAnError) {
  expect_part(error_of("nputensordec labels-file=/nowhere/labels.txt", frame_with({two_objects()})),
              "/nowhere/labels.txt");
}

TEST(TensorDecLabels, OfAnotherNumberThanTheModelsAreAnError) {
  const std::string error = error_of("nputensordec labels=a", frame_with({two_objects()}));
  expect_part(error, "labels");
  expect_part(error, "model-task");
}

// A typing error does not end a stream that plays.
TEST(TensorDecLabels, StayWhereNewOnesAreWrong) {
  ElementHarness harness("nputensordec labels=a,b", kCaps);
  ASSERT_EQ(harness.push(frame_with({two_objects()})), GST_FLOW_OK);
  set_wrong_labels(harness);
  for (int i = 0; i < 3; ++i) ASSERT_EQ(harness.push(frame_with({two_objects()})), GST_FLOW_OK);
  expect_told_once_of_wrong_labels(harness);
  gchar* labels = nullptr;
  gchar* file = nullptr;
  gst_harness_get(harness.get(), "nputensordec", "labels", &labels, "labels-file", &file, nullptr);
  EXPECT_STREQ(labels, "a,b");
  EXPECT_STREQ(file, "");
  g_free(labels);
  g_free(file);
}

TEST(TensorDecThreshold, MayChangeWhilePlaying) {
  ElementHarness harness(kDetect, kCaps);
  EXPECT_EQ(rois(decoded_by(harness, frame_with({two_objects()})).get()).size(), 2u);
  gst_harness_set(harness.get(), "nputensordec", "threshold", 0.7, nullptr);
  EXPECT_EQ(rois(decoded_by(harness, frame_with({two_objects()})).get()).size(), 1u);
}

TEST(TensorDecThreshold, OfOverlapDecidesWhatIsOneObject) {
  const HandMadeTensor tensor =
      yolo_tensor({{100, 100, 40, 40, 0.7F}, {120, 100, 40, 40, 0.8F}, {300, 300, 4, 4, 0}});
  EXPECT_EQ(labels_of(kOf + "iou-threshold=0.34", frame_with({tensor})).size(), 2u);
  EXPECT_EQ(labels_of(kOf + "iou-threshold=0.33", frame_with({tensor})).size(), 1u);
}

// ---- Which tensor

TEST(TensorDecChoice, IsTheFirstThatFits) {
  EXPECT_EQ(labels_of(kDetect, frame_with({of_shape("masks", {1, 32, 8, 8}),
                                           of_shape("count", {1, 6}), two_objects("boxes")}))
                .size(),
            2u);
}

TEST(TensorDecChoice, IsTheOneThatModelInfoNames) {
  const TempFolder folder;
  folder.write("net.modelinfo", kModelInfo);
  EXPECT_EQ(labels_of(kDetect, frame_of_model({of_shape("other", {1, 6, 9}), two_objects()},
                                              nullptr, folder.file("net.xml"))),
            Labels{"blue"});
}

TEST(TensorDecChoice, IsTheUsers) {
  EXPECT_EQ(labels_of(kOf + "tensor-name=second",
                      frame_with({of_shape("first", {1, 6, 9}), two_objects("second")}))
                .size(),
            2u);
}

TEST(TensorDecChoice, UnknownNameListsTheTensors) {
  EXPECT_EQ(error_of(kOf + "tensor-name=x", frame_with({two_objects()})),
            "Cannot decode tensors: no tensor is named \"x\": set tensor-name to one of "
            "\"output0\" f32 [1,6,16].");
}

// 84 boxes are those of a picture of 64 x 64.
TEST(TensorDecLayout, OfBoxesFirstIsFoundByTheNumberOfBoxes) {
  HandMadeTensor tensor = of_shape("output0", {1, 84, 6});
  const auto values = {10.F, 5.F, 4.F, 2.F, 0.25F, 0.75F, 30.F, 20.F, 6.F, 8.F, 0.625F, 0.5F};
  std::copy(values.begin(), values.end(), tensor.values.begin());
  Owned<GstBuffer> frame = frame_with({tensor});
  GstNpuInferenceMeta* meta = add_model(frame.get());
  meta->model_width = meta->model_height = 64;
  EXPECT_EQ(labels_of("nputensordec labels=a,b model-task=detect", std::move(frame)),
            (Labels{"b", "a"}));
}

TEST(TensorDecLayout, MayBeSet) {
  const HandMadeTensor tensor{"output0", {1, 1, 6}, {100, 50, 40, 20, 0.25F, 0.75F}};
  EXPECT_EQ(
      labels_of("nputensordec model-task=detect tensor-layout=boxes-first", frame_with({tensor})),
      Labels{"class 1"});
}

// ---- Anchors

TEST(TensorDecAnchors, AreSizesInPixels) {
  for (const char* wrong : {"10,x", "10,-3", "10,,3", "1e9,1"}) {
    expect_part(error_of(std::string("nputensordec anchors=") + wrong, frame_with({two_objects()})),
                "is no size in pixels");
  }
}

TEST(TensorDecAnchors, ReachTheDecoder) {
  HandMadeTensor head = of_shape("output0", {1, 12, 20, 20});
  head.values.assign(head.values.size(), -9);
  for (std::size_t value = 0; value < 6; ++value) {
    head.values[(6 + value) * 400 + 5 * 20 + 3] = value < 4 ? 0 : 9;
  }
  const Owned<GstBuffer> out =
      decoded(frame_of_model({head}), "nputensordec model-family=yolov5-heads anchors=8,8,64,32");
  ASSERT_EQ(rois(out.get()).size(), 1u);
  const Roi roi = rois(out.get()).front();
  EXPECT_EQ(roi.x, 3u * 32 + 16 - 32);
  EXPECT_EQ(roi.y, 5u * 32 + 16 - 16);
  EXPECT_EQ(roi.w, 64u);
  EXPECT_EQ(roi.h, 32u);
}

// ---- What is no YOLO output

struct RefusedRow {
  const char* name;
  HandMadeTensor tensor;
  const char* complaint;
};

void PrintTo(const RefusedRow& row, std::ostream* out) {
  *out << row.name;
}

class TensorDecRefuses : public testing::TestWithParam<RefusedRow> {};

TEST_P(TensorDecRefuses, InOneClearError) {
  expect_part(error_of(kDetect, frame_with({GetParam().tensor})), GetParam().complaint);
}

INSTANTIATE_TEST_SUITE_P(
    All, TensorDecRefuses,
    testing::Values(RefusedRow{"Classification", of_shape("probabilities", {1, 1000}),
                               "\"probabilities\" f32 [1,1000] (family yolo"},
                    RefusedRow{"Image", of_shape("image", {1, 3, 8, 8}), "[1,3,8,8]"},
                    RefusedRow{"Batch", of_shape("batch", {2, 6, 10}), "[2,6,10]"},
                    RefusedRow{"Bytes", of_shape("bytes", {1, 6, 10}, GST_NPU_DATA_U8),
                               "\"bytes\" u8 [1,6,10]"},
                    RefusedRow{"NoClass", of_shape("boxes", {1, 4, 10}), "too few for a class"},
                    RefusedRow{"TooShort",
                               {"short", {1, 6, 10}, std::vector<float>(59)},
                               "does not fit into its memory of 236 bytes"}),
    [](const auto& row) { return row.param.name; });

TEST(TensorDec, ListsTheTensorsWhereNoneFits) {
  EXPECT_EQ(
      error_of("nputensordec", frame_with({of_shape("a", {1, 10}), of_shape("b", {1, 2, 3, 4})}))
          .find("Cannot decode tensors: the outputs \"a\" f32 [1,10], \"b\" f32 [1,2,3,4] (0 "
                "labels) are those of no family of models that is known"),
      0u);
}

TEST(TensorDec, TellsWhatWouldDecide) {
  const std::string error = error_of("nputensordec", frame_with({of_shape("a", {1, 84, 8400})}));
  expect_part(error, "set model-task or model-family, and labels");
  EXPECT_LT(error.size(), 1100u) << error;
}

TEST(TensorDec, NamesTheBadModelInfo) {
  const TempFolder folder;
  const std::string file = folder.write("net.modelinfo", "[modelinfo]\nversion=9.0\n");
  EXPECT_EQ(error_of(kDetect, frame_of_model({two_objects()}, nullptr, folder.file("net.xml"))),
            "Cannot decode tensors: " + file +
                ": group [modelinfo], key \"version\": is 9.0, but only 1.x is known.");
}

// The file would make the first inference known, which then went before the second.
TEST(TensorDec, RemembersWhatItDoesNotKnow) {
  const TempFolder folder;
  folder.write("net.modelinfo", "[modelinfo]\nversion=9.0\n");
  ElementHarness harness("nputensordec", kCaps);
  for (int i = 0; i < 2; ++i) {
    Owned<GstBuffer> frame(gst_buffer_new());
    attach_to(frame.get(), 0, two_objects());
    attach_to(frame.get(), 1, two_objects());
    add_model(frame.get(), folder.file("net.xml"))->inference_id = 0;
    add_model(frame.get(), "other.xml", "cat dog")->inference_id = 1;
    EXPECT_EQ(rois(decoded_by(harness, std::move(frame)).get()).at(0).label, "dog");
    folder.write("net.modelinfo", kModelInfo);
  }
}

}  // namespace
}  // namespace gstnpu_test::tensordec_choice_test
