// Text that models read: it travels with frames, and leaves nothing in the process.
#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <vector>

#include "common/refs.hpp"

#include "said.hpp"

#ifdef GST_NPU_HAVE_ANALYTICS
#include <gst/analytics/analytics.h>
#endif

namespace gstnpu::texts_test {
namespace {

using Buffer = BufferRef;

constexpr npu::vision::FrameSize kFrame{640, 480};
constexpr int kTexts = 2000;

npu::vision::Answer text_answer(const std::string& text) {
  npu::vision::Answer answer;
  answer.text = text;
  answer.text_confidence = 0.75F;
  return answer;
}

/// How many strings the process has interned, and one more.
GQuark interned() {
  static int calls = 0;
  return g_quark_from_string(("answer-meta-test-" + std::to_string(calls++)).c_str());
}

GstNpuInferenceMeta* add_inference(const Buffer& buffer, std::optional<gint> object_id = {}) {
  GstNpuInferenceMeta* meta = gst_buffer_add_npu_inference_meta(buffer.get(), "text.xml");
  meta->is_region = object_id.has_value();
  meta->object_id = object_id.value_or(0);
  return meta;
}

void say_of_frame(const Buffer& buffer, const npu::vision::Answer& answer) {
  attach_to_frame(buffer.get(), add_inference(buffer), answer, {}, kFrame);
}

void say_of_object(const Buffer& buffer, gint id, const npu::vision::Answer& answer) {
  attach_to_object(buffer.get(), add_inference(buffer, id), answer, {}, kFrame);
}

/// Number of strings that attach() interns for frames with a text each.
template <typename Attach>
GQuark interned_by(const std::string& name, const Attach& attach) {
  attach(name);  // what it interns once
  const GQuark before = interned();
  for (int i = 0; i < kTexts; ++i) attach(name + std::to_string(i));
  return interned() - before - 1;
}

TEST(TextOfAFrame, IsReadAndInternsNothing) {
  EXPECT_EQ(interned_by("frame",
                        [](const std::string& text) {
                          const Buffer buffer(gst_buffer_new());
                          say_of_frame(buffer, text_answer(text));
                          const auto results = read_answer(buffer.get(), kFrame);
                          ASSERT_EQ(results->classes.size(), 1U);
                          EXPECT_EQ(results->classes[0].label, text);
                          EXPECT_FALSE(results->classes[0].label_id);
                          EXPECT_EQ(results->classes[0].confidence, 0.75);
                        }),
            0U);
}

/// Reads the first region's skeleton.
std::optional<npu::vision::Skeleton> skeleton_read(const Buffer& buffer) {
  return objects_on(buffer.get(), kFrame).at(0).skeleton;
}

TEST(KeyPointsOfARegion, ComeWithTheCardsSkeleton) {
  npu::vision::Answer answer;
  answer.objects = {{10, 10, 20, 20, 0.5F, 0, {}}};
  answer.key_points_per_object = 3;
  answer.key_points.resize(3);
  npu::vision::ModelCard card;
  for (const npu::vision::Skeleton& skeleton :
       {npu::vision::Skeleton{{0, 1}, {1, 2}}, npu::vision::Skeleton{}}) {
    card.skeleton = skeleton;
    const Buffer buffer(gst_buffer_new());
    attach_to_frame(buffer.get(), add_inference(buffer), answer, card, kFrame);
    EXPECT_EQ(skeleton_read(buffer), skeleton);
  }
}

TEST(KeyPointsOfARegion, MayComeWithoutASkeletonAndWithAnyBytes) {
  const Buffer buffer(gst_buffer_new());
  GstVideoRegionOfInterestMeta* region =
      gst_buffer_add_video_region_of_interest_meta(buffer.get(), "a", 1, 1, 9, 9);
  GstStructure* structure = gst_structure_new_empty("keypoints");
  gst_video_region_of_interest_meta_add_param(region, structure);
  EXPECT_FALSE(skeleton_read(buffer));
  const std::vector<guint8> odd(15, 0xff);
  GBytes* bytes = g_bytes_new(odd.data(), odd.size());
  gst_structure_set(structure, "skeleton", G_TYPE_BYTES, bytes, nullptr);
  g_bytes_unref(bytes);
  EXPECT_EQ(skeleton_read(buffer), (npu::vision::Skeleton{{G_MAXUINT32, G_MAXUINT32}}));
}

TEST(TextOfARegion, IsReadAndInternsNothing) {
  EXPECT_EQ(
      interned_by("region",
                  [](const std::string& text) {
                    const Buffer buffer(gst_buffer_new());
                    npu::vision::Answer plate;
                    plate.objects.push_back({.left = 80, .top = 40, .right = 120, .bottom = 60});
                    say_of_frame(buffer, plate);
                    say_of_object(buffer, objects_on(buffer.get(), kFrame).at(0).id(),
                                  text_answer(text));
                    const std::vector<FoundObject> regions = objects_on(buffer.get(), kFrame);
                    ASSERT_EQ(regions.size(), 1U);
                    ASSERT_EQ(regions[0].classes.size(), 1U);
                    EXPECT_EQ(regions[0].classes[0].label, text);
                    EXPECT_FALSE(regions[0].classes[0].label_id);
                  }),
      0U);
}

#ifdef GST_NPU_HAVE_ANALYTICS
/// The id of an object that has no region, as other elements attach them.
gint add_object(const Buffer& buffer, gint x) {
  GstAnalyticsODMtd object;
  gst_analytics_relation_meta_add_od_mtd(gst_buffer_add_analytics_relation_meta(buffer.get()),
                                         g_quark_from_static_string("plate"), x, 40, 40, 20, 0.5F,
                                         &object);
  return static_cast<gint>(object.id);
}

TEST(TextOfAnAnalyticsObject, IsReadAndInternsNothing) {
  EXPECT_EQ(interned_by("object",
                        [](const std::string& text) {
                          const Buffer buffer(gst_buffer_new());
                          say_of_object(buffer, add_object(buffer, 80), text_answer(text));
                          const std::vector<FoundObject> regions = objects_on(buffer.get(), kFrame);
                          ASSERT_EQ(regions.size(), 1U);
                          ASSERT_EQ(regions[0].classes.size(), 1U);
                          EXPECT_EQ(regions[0].classes[0].label, text);
                          EXPECT_FALSE(regions[0].classes[0].label_id);
                          EXPECT_EQ(regions[0].classes[0].confidence, 0.75);
                        }),
            0U);
}

TEST(AnAnalyticsObject, KeepsItsClassesBesideItsText) {
  const Buffer buffer(gst_buffer_new());
  const gint id = add_object(buffer, 80);
  npu::vision::Answer answer = text_answer("AB 12");
  answer.classes = {{2, 0.5F}};
  answer.anomaly = 0.25F;
  answer.embedding = {0.6F, 0.8F};
  say_of_object(buffer, id, answer);
  const std::vector<FoundObject> regions = objects_on(buffer.get(), kFrame);
  ASSERT_EQ(regions.size(), 1U);
  ASSERT_EQ(regions[0].classes.size(), 2U);
  EXPECT_EQ(regions[0].classes[0].label, "class 2");
  EXPECT_EQ(regions[0].classes[1].label, "AB 12");
  EXPECT_EQ(regions[0].anomaly, 0.25);
  EXPECT_EQ(regions[0].embedding, (std::vector<float>{0.6F, 0.8F}));
}

TEST(AnAnalyticsObject, DoesNotGetTheTextOfAnother) {
  const Buffer buffer(gst_buffer_new());
  say_of_object(buffer, add_object(buffer, 80) + 7, text_answer("AB 12"));
  const std::vector<FoundObject> regions = objects_on(buffer.get(), kFrame);
  ASSERT_EQ(regions.size(), 1U);
  EXPECT_TRUE(regions[0].classes.empty());
}

// A list of all classes is asked for the number of a region's label.
TEST(LabelsOfRegions, AreNotInternedByReading) {
  EXPECT_EQ(
      interned_by(
          "label",
          [](const std::string& label) {
            const Buffer buffer(gst_buffer_new());
            const gint id = add_object(buffer, 80);
            GstAnalyticsRelationMeta* relations =
                gst_buffer_get_analytics_relation_meta(buffer.get());
            GstAnalyticsClsMtd all;
            ASSERT_TRUE(gst_analytics_relation_meta_add_one_cls_mtd(
                relations, 0.5F, g_quark_from_static_string("plate"), &all));
            ASSERT_TRUE(gst_analytics_relation_meta_set_relation(
                relations, GST_ANALYTICS_REL_TYPE_RELATE_TO, static_cast<guint>(id), all.id));
            GstVideoRegionOfInterestMeta* region =
                gst_buffer_add_video_region_of_interest_meta(buffer.get(), "plate", 80, 40, 40, 20);
            region->id = id;
            gst_video_region_of_interest_meta_add_param(
                region,
                gst_structure_new("detection", "label", G_TYPE_STRING, label.c_str(), nullptr));
            EXPECT_EQ(objects_on(buffer.get(), kFrame).at(0).label, label);
          }),
      0U);
}
#endif

}  // namespace
}  // namespace gstnpu::texts_test
