// Regions that others attach, change and take away behind nputensordec.
#include <gst/video/gstvideometa.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "bridges/bridges.hpp"
#include "bridges/dlstreamer.hpp"
#include "common/refs.hpp"

namespace gstnpu::regions_test {
namespace {

using Roi = GstVideoRegionOfInterestMeta;

constexpr npu::vision::FrameSize kFrame{640, 480};

FoundObject object_at(const char* label, double x) {
  return {.label = label,
          .label_id = 0,
          .confidence = 0.5,
          .x = x,
          .y = 100,
          .width = 40,
          .height = 40};
}

/// As nputensordec leaves it: a circle and a square.
BufferRef decoded_frame() {
  BufferRef buffer(gst_buffer_new());
  FrameAnswer answer = take_answer(buffer.get(), kFrame);
  answer.objects = {object_at("circle", 100), object_at("square", 300)};
  write_answer(buffer.get(), std::move(answer));
  return buffer;
}

Roi* add_region(GstBuffer* buffer, const char* type, guint x, gint id = 0) {
  Roi* roi = gst_buffer_add_video_region_of_interest_meta(buffer, type, x, 100, 40, 40);
  roi->id = id;
  return roi;
}

void add_class(Roi* roi, const char* label) {
  gst_video_region_of_interest_meta_add_param(
      roi, gst_structure_new("classification", "label", G_TYPE_STRING, label, nullptr));
}

Roi* region_of(GstBuffer* buffer, gint id) {
  return gst_buffer_get_video_region_of_interest_meta_id(buffer, id);
}

void remove_region(GstBuffer* buffer, gint id) {
  gst_buffer_remove_meta(buffer, &region_of(buffer, id)->meta);
}

/// "circle", or "circle red" where a class was added.
std::vector<std::string> objects_on(GstBuffer* buffer) {
  std::vector<std::string> found;
  const auto answer = read_answer(buffer, kFrame);
  for (const FoundObject& object : answer->objects) {
    found.push_back(object.label);
    for (const FoundClass& one : object.classes) found.back() += " " + one.label;
  }
  return found;
}

using Names = std::vector<std::string>;

/// The names, and the circle's where GstAnalytics has it: a region that is removed says nothing of
/// that.
Names and_twin(Names names) {
#ifdef GST_NPU_HAVE_ANALYTICS
  names.insert(names.begin(), "circle");
#endif
  return names;
}

TEST(BridgedRegions, ThatAreRemovedTakeTheirObjectsWithThem) {
  const BufferRef buffer = decoded_frame();
  remove_region(buffer.get(), 0);
  EXPECT_EQ(objects_on(buffer.get()), and_twin({"square"}));
  write_answer(buffer.get(), take_answer(buffer.get(), kFrame));
  EXPECT_EQ(objects_on(buffer.get()), and_twin({"square"}));
}

// Most elements leave the id at 0.
TEST(BridgedRegions, InTheirPlaceAreObjectsOfTheirOwn) {
  const BufferRef buffer = decoded_frame();
  remove_region(buffer.get(), 0);
  add_class(add_region(buffer.get(), "mine", 10), "red");
  EXPECT_EQ(objects_on(buffer.get()), and_twin({"square", "mine red"}));
}

TEST(BridgedRegions, ThatWereAddedAreReadOnce) {
  const BufferRef buffer = decoded_frame();
  add_region(buffer.get(), "mine", 10, 7);
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(objects_on(buffer.get()), (Names{"circle", "square", "mine"}));
    write_answer(buffer.get(), take_answer(buffer.get(), kFrame));
  }
  add_class(region_of(buffer.get(), 7), "red");
  EXPECT_EQ(objects_on(buffer.get()), (Names{"circle", "square", "mine red"}));
}

// Their objects have left the frame, but other elements still see them.
TEST(BridgedRegions, OfObjectsThatAreGoneKeepTheirIdsForThemselves) {
  const BufferRef buffer = decoded_frame();
  FrameAnswer answer = take_answer(buffer.get(), kFrame);
  answer.objects = {object_at("triangle", 500)};
  write_answer(buffer.get(), std::move(answer));
  EXPECT_EQ(objects_on(buffer.get()), Names{"triangle"});
  answer = take_answer(buffer.get(), kFrame);
  answer.objects[0].identity = Identity{.id = 9};
  write_answer(buffer.get(), std::move(answer));
  ASSERT_NE(region_of(buffer.get(), 2), nullptr);
  EXPECT_EQ(region_of(buffer.get(), 2)->x, 500U);
  EXPECT_NE(gst_video_region_of_interest_meta_get_param(region_of(buffer.get(), 2), "object_id"),
            nullptr);
  EXPECT_EQ(gst_video_region_of_interest_meta_get_param(region_of(buffer.get(), 0), "object_id"),
            nullptr);
}

// GStreamer before 1.28 scales regions without their structures.
TEST(BridgedRegions, WhoseStructuresWentAreReadAgain) {
  const BufferRef buffer = decoded_frame();
  FrameAnswer answer = take_answer(buffer.get(), kFrame);
  answer.objects[0].identity = Identity{.id = 9};
  write_answer(buffer.get(), std::move(answer));
  Roi* roi = region_of(buffer.get(), 0);
  g_list_free_full(roi->params, reinterpret_cast<GDestroyNotify>(gst_structure_free));
  roi->params = nullptr;
  add_class(roi, "red");
  EXPECT_EQ(objects_on(buffer.get()), (Names{"circle red", "square"}));
}

TEST(BridgedRegions, WithOneIdAreToldApartByTheirPlaces) {
  const BufferRef buffer(gst_buffer_new());
  for (const guint x : {10U, 200U, 400U}) add_region(buffer.get(), "mine", x);
  FrameAnswer answer = take_answer(buffer.get(), kFrame);
  give_ids(buffer.get(), &answer);
  answer.objects.erase(answer.objects.begin());
  answer.objects[0].identity = Identity{.id = 9};
  write_answer(buffer.get(), std::move(answer));
  gpointer state = nullptr;
  while (GstMeta* meta = gst_buffer_iterate_meta_filtered(
             buffer.get(), &state, GST_VIDEO_REGION_OF_INTEREST_META_API_TYPE)) {
    Roi* roi = reinterpret_cast<Roi*>(meta);
    EXPECT_EQ(gst_video_region_of_interest_meta_get_param(roi, "object_id") != nullptr,
              roi->x == 200U)
        << roi->x;
  }
}

}  // namespace
}  // namespace gstnpu::regions_test
