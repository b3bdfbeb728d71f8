// Masks and maps of classes: what GstAnalytics has of them, and that nobody reads them twice.
#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <vector>

#include "common/refs.hpp"

#include "said.hpp"

#ifdef GST_NPU_HAVE_ANALYTICS
#include <gst/analytics/analytics.h>
#endif

namespace gstnpu::segmentations_test {
namespace {

using Buffer = BufferRef;

constexpr npu::vision::FrameSize kFrame{640, 480};
constexpr std::size_t kObjects = 3;

/// Masks of 3x2 values on 30x20 pixels; the third object's is outside the frame.
npu::vision::Answer with_masks() {
  npu::vision::Answer answer;
  answer.objects = {{10, 10, 40, 30, 0.75F, 0, {}},
                    {100, 10, 130, 30, 0.5F, 1, {}},
                    {200, 10, 230, 30, 0.25F, 1, {}}};
  answer.masks = {{10, 10, 30, 20, 3, 2, 0}, {100, 10, 30, 20, 3, 2, 6}, {200, 10, 0, 0, 0, 0, 12}};
  answer.mask_pixels = {255, 0, 255, 0, 0, 0, 0, 0, 0, 0, 255, 255};
  return answer;
}

/// A map of 3x2 places; `last` is the class of the last one.
npu::vision::Answer with_map(guint16 last) {
  npu::vision::Answer answer;
  answer.class_map = {3, 2, {0, 1, 0, 0, 0, last}};
  return answer;
}

npu::vision::ModelCard card() {
  npu::vision::ModelCard card;
  card.labels = {"background", "road"};
  return card;
}

GstNpuInferenceMeta* add_inference(const Buffer& buffer) {
  return gst_buffer_add_npu_inference_meta(buffer.get(), "masks.xml");
}

Buffer frame_of(const npu::vision::Answer& answer) {
  Buffer buffer(gst_buffer_new());
  attach_to_frame(buffer.get(), add_inference(buffer), answer, card(), kFrame);
  return buffer;
}

/// The objects' masks, one after the other.
std::vector<std::vector<guint8>> masks_read(const Buffer& buffer) {
  std::vector<std::vector<guint8>> masks;
  for (const FoundObject& region : objects_on(buffer.get(), kFrame)) {
    masks.push_back(region.mask ? region.mask->values : std::vector<guint8>());
  }
  return masks;
}

TEST(Masks, AreReadOnce) {
  const auto masks = masks_read(frame_of(with_masks()));
  ASSERT_EQ(masks.size(), kObjects);
  EXPECT_EQ(masks[0], (std::vector<guint8>{255, 0, 255, 0, 0, 0}));
  EXPECT_EQ(masks[1], (std::vector<guint8>{0, 0, 0, 0, 255, 255}));
  EXPECT_TRUE(masks[2].empty());
}

TEST(MapsOfClasses, AreReadOnceAndAreNoClassesOfTheFrame) {
  const Buffer buffer = frame_of(with_map(1));
  const auto answer = read_answer(buffer.get(), kFrame);
  EXPECT_EQ(answer->maps.size(), 1U);
  EXPECT_TRUE(answer->classes.empty());
  EXPECT_TRUE(objects_on(buffer.get(), kFrame).empty());
}

#if defined(GST_NPU_HAVE_ANALYTICS) && GST_CHECK_VERSION(1, 25, 0)

/// A map of 6x2 places, whose right half is that one.
npu::vision::Answer wide_map(guint16 last) {
  npu::vision::Answer answer;
  answer.class_map = {6, 2, {9, 9, 9, 0, 1, 0, 9, 9, 9, 0, 0, last}};
  return answer;
}

/// A segmentation as other elements see it.
struct Segments {
  guint id = 0;
  GstVideoFormat format = GST_VIDEO_FORMAT_UNKNOWN;
  guint columns = 0, rows = 0;
  gint stride = 0;
  gint x = 0, y = 0;
  guint width = 0, height = 0;
  std::vector<guint8> bytes;
  std::vector<guint> regions;
  std::vector<std::string> names;  ///< of the regions
  std::optional<guint> object;     ///< that contains it
};

void read_image(GstBuffer* image, Segments* segments) {
  const GstVideoMeta* video = gst_buffer_get_video_meta(image);
  ASSERT_NE(video, nullptr);
  segments->format = video->format;
  segments->columns = video->width;
  segments->rows = video->height;
  segments->stride = video->stride[0];
  segments->bytes.resize(gst_buffer_get_size(image));
  gst_buffer_extract(image, 0, segments->bytes.data(), segments->bytes.size());
}

void read_names(GstAnalyticsRelationMeta* relations, Segments* segments) {
  gpointer state = nullptr;
  GstAnalyticsClsMtd names;
  if (!gst_analytics_relation_meta_get_direct_related(
          relations, segments->id, GST_ANALYTICS_REL_TYPE_N_TO_N,
          gst_analytics_cls_mtd_get_mtd_type(), &state, &names)) {
    return;
  }
  for (gsize i = 0; i < gst_analytics_cls_mtd_get_length(&names); ++i) {
    segments->names.emplace_back(g_quark_to_string(gst_analytics_cls_mtd_get_quark(&names, i)));
    EXPECT_EQ(gst_analytics_cls_mtd_get_level(&names, i), -1);
  }
}

void read_object(GstAnalyticsRelationMeta* relations, Segments* segments) {
  gpointer state = nullptr;
  GstAnalyticsODMtd object;
  if (!gst_analytics_relation_meta_get_direct_related(
          relations, segments->id, GST_ANALYTICS_REL_TYPE_IS_PART_OF,
          gst_analytics_od_mtd_get_mtd_type(), &state, &object)) {
    return;
  }
  segments->object = object.id;
  EXPECT_EQ(gst_analytics_relation_meta_get_relation(relations, object.id, segments->id),
            GST_ANALYTICS_REL_TYPE_CONTAIN);
}

std::vector<Segments> segments_of(GstBuffer* buffer) {
  std::vector<Segments> all;
  GstAnalyticsRelationMeta* relations = gst_buffer_get_analytics_relation_meta(buffer);
  gpointer state = nullptr;
  GstAnalyticsSegmentationMtd found;
  while (relations &&
         gst_analytics_relation_meta_iterate(
             relations, &state, gst_analytics_segmentation_mtd_get_mtd_type(), &found)) {
    Segments one{.id = found.id};
    GstBuffer* image =
        gst_analytics_segmentation_mtd_get_mask(&found, &one.x, &one.y, &one.width, &one.height);
    read_image(image, &one);
    gst_buffer_unref(image);
    for (gsize i = 0; i < gst_analytics_segmentation_mtd_get_region_count(&found); ++i) {
      one.regions.push_back(gst_analytics_segmentation_mtd_get_region_id(&found, i));
    }
    read_names(relations, &one);
    read_object(relations, &one);
    all.push_back(std::move(one));
  }
  return all;
}

void remove_regions(GstBuffer* buffer) {
  gst_buffer_foreach_meta(
      buffer,
      [](GstBuffer*, GstMeta** meta, gpointer) -> gboolean {
        if ((*meta)->info->api == GST_VIDEO_REGION_OF_INTEREST_META_API_TYPE) {
          *meta = nullptr;
        }
        return TRUE;
      },
      nullptr);
}

TEST(MasksInAnalytics, AreContainedByTheirObjects) {
  const Buffer buffer = frame_of(with_masks());
  const std::vector<Segments> all = segments_of(buffer.get());
  ASSERT_EQ(all.size(), 2U);  // one has no pixel
  const std::vector<FoundObject> regions = objects_on(buffer.get(), kFrame);
  ASSERT_EQ(regions.size(), kObjects);
  for (std::size_t i = 0; i < all.size(); ++i) {
    EXPECT_EQ(all[i].object, regions[i].analytics_id);
    EXPECT_EQ(all[i].x, regions[i].x);
    EXPECT_EQ(all[i].y, 10);
    EXPECT_EQ(all[i].width, 30U);
    EXPECT_EQ(all[i].height, 20U);
    EXPECT_TRUE(all[i].names.empty());
  }
}

// So that whoever draws them can give each a color.
TEST(MasksInAnalytics, HaveANumberEach) {
  const std::vector<Segments> all = segments_of(frame_of(with_masks()).get());
  ASSERT_EQ(all.size(), 2U);
  EXPECT_EQ(all[0].regions, std::vector<guint>{1});
  EXPECT_EQ(all[0].bytes, (std::vector<guint8>{1, 0, 1, 0, 0, 0}));
  EXPECT_EQ(all[1].regions, std::vector<guint>{2});
  EXPECT_EQ(all[1].bytes, (std::vector<guint8>{0, 0, 0, 0, 2, 2}));
}

// GStreamer's segmentationoverlay takes rows to be as long as they are wide.
TEST(MasksInAnalytics, AreImagesWithoutPadding) {
  for (const Segments& one : segments_of(frame_of(with_masks()).get())) {
    EXPECT_EQ(one.format, GST_VIDEO_FORMAT_GRAY8);
    EXPECT_EQ(one.columns, 3U);
    EXPECT_EQ(one.rows, 2U);
    EXPECT_EQ(one.stride, 3);
  }
}

TEST(MasksInAnalytics, OfMoreObjectsThanAByteHasNumbersAreNeverZero) {
  constexpr std::size_t kMany = 600;
  npu::vision::Answer answer;
  answer.objects.assign(kMany, {10, 10, 40, 30, 0.75F, 0, {}});
  answer.masks.assign(kMany, {10, 10, 1, 1, 1, 1, 0});
  answer.mask_pixels = {255};
  const std::vector<Segments> all = segments_of(frame_of(answer).get());
  ASSERT_EQ(all.size(), kMany);
  for (const Segments& one : all) {
    EXPECT_NE(one.bytes[0], 0);
    EXPECT_EQ(one.regions, std::vector<guint>{one.bytes[0]});
  }
}

TEST(MasksInAnalytics, AreReadWhereTheRegionsAreGone) {
  const Buffer buffer = frame_of(with_masks());
  const auto masks = masks_read(buffer);
  remove_regions(buffer.get());
  EXPECT_EQ(masks_read(buffer), masks);
}

TEST(MasksInAnalytics, GoWithACopyOfTheFrame) {
  Buffer buffer = frame_of(with_masks());
  const Buffer copy(gst_buffer_copy(buffer.get()));
  const std::vector<guint8> bytes = segments_of(buffer.get()).at(1).bytes;
  buffer.reset();
  EXPECT_EQ(segments_of(copy.get()).at(1).bytes, bytes);
}

TEST(MapsInAnalytics, HaveARegionForEachClass) {
  const std::vector<Segments> all = segments_of(frame_of(with_map(2)).get());
  ASSERT_EQ(all.size(), 1U);
  EXPECT_EQ(all[0].format, GST_VIDEO_FORMAT_GRAY8);
  EXPECT_EQ(all[0].stride, 3);
  EXPECT_EQ(all[0].bytes, (std::vector<guint8>{0, 1, 0, 0, 0, 2}));
  EXPECT_EQ(all[0].regions, (std::vector<guint>{0, 1, 2}));
  EXPECT_EQ(all[0].names, (std::vector<std::string>{"background", "road", "class 2"}));
  EXPECT_EQ(all[0].width, kFrame.width);
  EXPECT_EQ(all[0].height, kFrame.height);
  EXPECT_FALSE(all[0].object);
}

TEST(MapsInAnalytics, OfMoreClassesThanAByteHasAreOfTwoBytes) {
  const std::vector<Segments> all = segments_of(frame_of(with_map(300)).get());
  ASSERT_EQ(all.size(), 1U);
  EXPECT_EQ(all[0].format, GST_VIDEO_FORMAT_GRAY16_LE);
  EXPECT_EQ(all[0].stride, 6);
  ASSERT_EQ(all[0].bytes.size(), 12U);
  EXPECT_EQ(all[0].bytes[10], 300 % 256);
  EXPECT_EQ(all[0].bytes[11], 300 / 256);
  EXPECT_EQ(all[0].regions.size(), 301U);
  EXPECT_EQ(all[0].names.size(), 301U);
}

/// A frame with an object on its right half and the object's map.
Buffer object_with_map(guint16 last, bool by_region) {
  Buffer buffer(gst_buffer_new());
  npu::vision::Answer object;
  object.objects = {{320, 0, 640, 480, 0.75F, 0, {}}};
  attach_to_frame(buffer.get(), add_inference(buffer), object, card(), kFrame);
  const gint id = objects_on(buffer.get(), kFrame).at(0).id();
  if (!by_region) {
    remove_regions(buffer.get());
  }
  GstNpuInferenceMeta* meta = add_inference(buffer);
  meta->is_region = TRUE;
  meta->object_id = id;
  meta->model_width = kFrame.width;
  meta->model_height = kFrame.height;
  meta->region_x = meta->region_w = kFrame.width / 2;
  meta->region_h = kFrame.height;
  attach_to_object(buffer.get(), meta, wide_map(last), card(), kFrame);
  return buffer;
}

TEST(MapsInAnalytics, OfObjectsAreContainedAndCoverThem) {
  for (const bool by_region : {true, false}) {
    const Buffer buffer = object_with_map(1, by_region);
    const std::vector<Segments> all = segments_of(buffer.get());
    ASSERT_EQ(all.size(), 1U);
    EXPECT_EQ(all[0].object, objects_on(buffer.get(), kFrame).at(0).analytics_id);
    EXPECT_EQ(all[0].x, 320);
    EXPECT_EQ(all[0].y, 0);
    EXPECT_EQ(all[0].width, 320U);
    EXPECT_EQ(all[0].height, 480U);
  }
}

// Maps of one class have one region, like masks.
TEST(MapsInAnalytics, OfOneClassAreNoMasks) {
  const Buffer buffer(gst_buffer_new());
  npu::vision::Answer map = with_map(0);
  map.class_map.values[1] = 0;
  attach_to_frame(buffer.get(), add_inference(buffer), with_masks(), card(), kFrame);
  GstNpuInferenceMeta* meta = add_inference(buffer);
  meta->is_region = TRUE;
  meta->object_id = objects_on(buffer.get(), kFrame).at(2).id();
  attach_to_object(buffer.get(), meta, map, card(), kFrame);
  remove_regions(buffer.get());
  EXPECT_EQ(segments_of(buffer.get()).size(), 3U);
  EXPECT_TRUE(masks_read(buffer).at(2).empty());
}
#endif

}  // namespace
}  // namespace gstnpu::segmentations_test
