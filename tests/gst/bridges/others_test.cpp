// npupublish reads other elements' results, and others read nputensordec's.
#include <gst/video/gstvideometa.h>
#include <gtest/gtest.h>

#include "common/refs.hpp"
#include "publish/frame_json.hpp"

#include "said.hpp"

#ifdef GST_NPU_HAVE_ANALYTICS
#include <gst/analytics/analytics.h>
#endif

namespace gstnpu::others_test {
namespace {

using Buffer = BufferRef;

constexpr npu::vision::FrameSize kFrame{640, 480};

std::string line_of(const Buffer& buffer) {
  return to_json_line(read_frame(buffer.get(), kFrame, false));
}

GstVideoRegionOfInterestMeta* add_region(const Buffer& buffer, const char* label) {
  return gst_buffer_add_video_region_of_interest_meta(buffer.get(), label, 80, 40, 40, 20);
}

void add_param(GstVideoRegionOfInterestMeta* region, const char* structure) {
  GstStructure* read = gst_structure_from_string(structure, nullptr);
  ASSERT_NE(read, nullptr) << structure;
  gst_video_region_of_interest_meta_add_param(region, read);
}

// As gvadetect, gvatrack and gvaclassify leave them: of a classification the structure's name is
// that of the model's layer.
TEST(OthersResults, OfDlStreamerAreRead) {
  const Buffer buffer(gst_buffer_new());
  GstVideoRegionOfInterestMeta* region = add_region(buffer, "car");
  add_param(region,
            "detection, x_min=(double)0.125, x_max=(double)0.1875, y_min=(double)0.0625, "
            "y_max=(double)0.125, confidence=(double)0.75, label_id=(int)3, label=(string)car, "
            "model_name=(string)net, layer_name=(string)out;");
  add_param(region, "object_id, id=(int)7;");
  add_param(region,
            "color, label=(string)red, label_id=(int)2, confidence=(double)0.5, "
            "attribute_name=(string)color;");
  EXPECT_NE(line_of(buffer).find(
                R"("detections":[{"label":"car","label_id":3,"confidence":0.75,"x":80.0,"y":30.0,)"
                R"("w":40.0,"h":30.0,"tracking_id":7,"classifications":[{"label":"red",)"
                R"("label_id":2,"confidence":0.5,"attribute":"color"}]}])"),
            std::string::npos)
      << line_of(buffer);
}

// Where there is no attribute, the name of the structure stands for it.
TEST(OthersResults, OfDlStreamerKeepWhatTheyAreOf) {
  const Buffer buffer(gst_buffer_new());
  GstVideoRegionOfInterestMeta* region = add_region(buffer, "car");
  add_param(region,
            "layer, label=(string)red, attribute_name=(string)color, model_name=(string)net;");
  add_param(region, "type, label=(string)van;");
  add_param(region, "classification, label=(string)old;");
  const std::vector<FoundObject> regions = objects_on(buffer.get(), kFrame);
  ASSERT_EQ(regions.size(), 1U);
  const std::vector<FoundClass>& classes = regions[0].classes;
  ASSERT_EQ(classes.size(), 3U);
  EXPECT_EQ(classes[0].attribute, "color");
  EXPECT_EQ(classes[0].model, "net");
  EXPECT_EQ(classes[1].attribute, "type");
  EXPECT_EQ(classes[2].attribute, "");
}

// A tracker that has lost an object, or does not follow it yet.
TEST(OthersResults, ATrackBelowZeroIsNone) {
  const Buffer buffer(gst_buffer_new());
  for (const char* id : {"object_id, id=(int)-1;", "object_id, id=(int)0;"}) {
    add_param(add_region(buffer, "car"), id);
  }
  const std::vector<FoundObject> regions = objects_on(buffer.get(), kFrame);
  ASSERT_EQ(regions.size(), 2U);
  EXPECT_FALSE(regions[0].identity);
  ASSERT_TRUE(regions[1].identity);
  EXPECT_EQ(regions[1].identity->id, 0U);
}

// ---- The contract of DL Streamer, field by field

npu::vision::Answer one_object() {
  npu::vision::Answer answer;
  answer.objects.push_back({.left = 79.75,
                            .top = 40,
                            .right = 120.25,
                            .bottom = 60,
                            .confidence = 0.75F,
                            .label_id = 1});
  return answer;
}

npu::vision::ModelCard card() {
  npu::vision::ModelCard card;
  card.labels = {"circle", "square"};
  return card;
}

GstVideoRegionOfInterestMeta* region_of(const Buffer& buffer) {
  return reinterpret_cast<GstVideoRegionOfInterestMeta*>(
      gst_buffer_get_meta(buffer.get(), GST_VIDEO_REGION_OF_INTEREST_META_API_TYPE));
}

double number(const GstStructure* structure, const char* field) {
  const GValue* value = gst_structure_get_value(structure, field);
  EXPECT_TRUE(value && G_VALUE_HOLDS_DOUBLE(value)) << field;
  return value && G_VALUE_HOLDS_DOUBLE(value) ? g_value_get_double(value) : -1;
}

int whole(const GstStructure* structure, const char* field) {
  const GValue* value = gst_structure_get_value(structure, field);
  EXPECT_TRUE(value && G_VALUE_HOLDS_INT(value)) << field;
  return value && G_VALUE_HOLDS_INT(value) ? g_value_get_int(value) : -1;
}

/// Attaches an inference of the buffer's first region.
void attach_to_region(const Buffer& buffer, const npu::vision::Answer& answer,
                      const npu::vision::ModelCard& card) {
  GstNpuInferenceMeta* meta = gst_buffer_add_npu_inference_meta(buffer.get(), "colors.xml");
  meta->is_region = TRUE;
  meta->object_id = region_of(buffer)->id;
  attach_to_object(buffer.get(), meta, answer, card, kFrame);
}

TEST(ContractOfDlStreamer, HoldsForADetection) {
  const Buffer buffer(gst_buffer_new());
  attach_to_frame(buffer.get(), gst_buffer_add_npu_inference_meta(buffer.get(), nullptr),
                  one_object(), card(), kFrame);
  GstVideoRegionOfInterestMeta* region = region_of(buffer);
  ASSERT_NE(region, nullptr);
  EXPECT_STREQ(g_quark_to_string(region->roi_type), "square");
  EXPECT_EQ(region->x, 80U);
  EXPECT_EQ(region->y, 40U);
  EXPECT_EQ(region->w, 40U);
  EXPECT_EQ(region->h, 20U);
  EXPECT_EQ(region->parent_id, 0);
  ASSERT_EQ(g_list_length(region->params), 1U);
  const auto* detection = static_cast<const GstStructure*>(region->params->data);
  EXPECT_TRUE(gst_structure_has_name(detection, "detection"));
  EXPECT_DOUBLE_EQ(number(detection, "x_min"), 79.75 / 640);
  EXPECT_DOUBLE_EQ(number(detection, "x_max"), 120.25 / 640);
  EXPECT_DOUBLE_EQ(number(detection, "y_min"), 40 / 480.0);
  EXPECT_DOUBLE_EQ(number(detection, "y_max"), 60 / 480.0);
  EXPECT_DOUBLE_EQ(number(detection, "confidence"), 0.75);
  EXPECT_EQ(whole(detection, "label_id"), 1);
  EXPECT_STREQ(gst_structure_get_string(detection, "label"), "square");
}

TEST(ContractOfDlStreamer, HoldsForAClassification) {
  const Buffer buffer(gst_buffer_new());
  attach_to_frame(buffer.get(), gst_buffer_add_npu_inference_meta(buffer.get(), nullptr),
                  one_object(), card(), kFrame);
  npu::vision::Answer answer;
  answer.classes = {{1, 0.5F}};
  npu::vision::ModelCard colors;
  colors.labels = {"red", "blue"};
  attach_to_region(buffer, answer, colors);
  const GstStructure* found =
      gst_video_region_of_interest_meta_get_param(region_of(buffer), "classification");
  ASSERT_NE(found, nullptr);
  EXPECT_STREQ(gst_structure_get_string(found, "label"), "blue");
  EXPECT_EQ(whole(found, "label_id"), 1);
  EXPECT_DOUBLE_EQ(number(found, "confidence"), 0.5);
  EXPECT_STREQ(gst_structure_get_string(found, "model_name"), "colors.xml")
      << "gvametaconvert leaves out what has none";
}

TEST(AttachToObject, WhatIsSaidOfItIsRead) {
  const Buffer buffer(gst_buffer_new());
  attach_to_frame(buffer.get(), gst_buffer_add_npu_inference_meta(buffer.get(), nullptr),
                  one_object(), card(), kFrame);
  npu::vision::Answer answer;
  answer.anomaly = 0.25F;
  answer.embedding = {0.6F, 0.8F};
  attach_to_region(buffer, answer, card());
  const std::vector<FoundObject> regions = objects_on(buffer.get(), kFrame);
  ASSERT_EQ(regions.size(), 1U);
  EXPECT_EQ(regions[0].anomaly, 0.25);
  EXPECT_EQ(regions[0].embedding, (std::vector<float>{0.6F, 0.8F}));
  const std::string line = to_json_line(read_frame(buffer.get(), kFrame, false));
  EXPECT_NE(line.find(R"("anomaly":0.25,"embedding":[0.6,0.8]}])"), std::string::npos) << line;
}

#ifdef GST_NPU_HAVE_ANALYTICS
TEST(ContractOfDlStreamer, HasTheIdOfTheObjectInGstAnalytics) {
  const Buffer buffer(gst_buffer_new());
  npu::vision::Answer answer = one_object();
  answer.objects.push_back(answer.objects[0]);
  attach_to_frame(buffer.get(), gst_buffer_add_npu_inference_meta(buffer.get(), nullptr), answer,
                  card(), kFrame);
  GstAnalyticsRelationMeta* relations = gst_buffer_get_analytics_relation_meta(buffer.get());
  ASSERT_NE(relations, nullptr);
  gpointer state = nullptr;
  int count = 0;
  while (GstMeta* meta = gst_buffer_iterate_meta_filtered(
             buffer.get(), &state, GST_VIDEO_REGION_OF_INTEREST_META_API_TYPE)) {
    auto* region = reinterpret_cast<GstVideoRegionOfInterestMeta*>(meta);
    GstAnalyticsODMtd object;
    ASSERT_TRUE(
        gst_analytics_relation_meta_get_od_mtd(relations, static_cast<guint>(region->id), &object));
    EXPECT_EQ(gst_analytics_od_mtd_get_obj_type(&object), region->roi_type);
    gint x = 0, y = 0, w = 0, h = 0;
    gfloat confidence = 0;
    gst_analytics_od_mtd_get_location(&object, &x, &y, &w, &h, &confidence);
    EXPECT_EQ(x, static_cast<gint>(region->x));
    EXPECT_EQ(h, static_cast<gint>(region->h));
    EXPECT_EQ(confidence, 0.75F);
    ++count;
  }
  EXPECT_EQ(count, 2);
}

// ---- GstAnalytics of others

class OthersAnalytics : public testing::Test {
 protected:
  GstAnalyticsODMtd add_object(const char* label, int x, float confidence) {
    GstAnalyticsODMtd object;
    gst_analytics_relation_meta_add_od_mtd(relations_, g_quark_from_string(label), x, 40, 40, 20,
                                           confidence, &object);
    return object;
  }
  void relate(GstAnalyticsRelTypes type, guint first, guint second) {
    EXPECT_TRUE(gst_analytics_relation_meta_set_relation(relations_, type, first, second));
  }
  GstAnalyticsClsMtd add_classes(std::vector<gfloat> levels, std::vector<const char*> names) {
    std::vector<GQuark> quarks;
    for (const char* name : names) quarks.push_back(g_quark_from_string(name));
    GstAnalyticsClsMtd classes;
    gst_analytics_relation_meta_add_cls_mtd(relations_, levels.size(), levels.data(), quarks.data(),
                                            &classes);
    return classes;
  }

  Buffer buffer_{gst_buffer_new()};
  GstAnalyticsRelationMeta* relations_ = gst_buffer_add_analytics_relation_meta(buffer_.get());
};

TEST_F(OthersAnalytics, AreDetectionsWithClassesAndTracks) {
  const GstAnalyticsODMtd object = add_object("car", 80, 0.75F);
  const GstAnalyticsClsMtd color = add_classes({0.25F, 0.5F}, {"red", "blue"});
  relate(GST_ANALYTICS_REL_TYPE_CONTAIN, object.id, color.id);
  GstAnalyticsTrackingMtd tracking;
  gst_analytics_relation_meta_add_tracking_mtd(relations_, 7, 0, &tracking);
  relate(GST_ANALYTICS_REL_TYPE_RELATE_TO, object.id, tracking.id);
  EXPECT_NE(
      line_of(buffer_).find(
          R"("detections":[{"label":"car","label_id":null,"confidence":0.75,"x":80.0,"y":40.0,)"
          R"("w":40.0,"h":20.0,"tracking_id":7,"classifications":[{"label":"blue",)"
          R"("label_id":1,"confidence":0.5}]}]})"),
      std::string::npos)
      << line_of(buffer_);
}

TEST_F(OthersAnalytics, ListOfAllClassesGivesTheNumber) {
  const GstAnalyticsODMtd object = add_object("car", 80, 0.75F);
  const GstAnalyticsClsMtd all = add_classes({0, 0, 0}, {"bus", "van", "car"});
  relate(GST_ANALYTICS_REL_TYPE_RELATE_TO, object.id, all.id);
  const std::string line = line_of(buffer_);
  EXPECT_NE(line.find(R"("label":"car","label_id":2)"), std::string::npos) << line;
  EXPECT_EQ(line.find("classifications"), std::string::npos) << line;
}

TEST_F(OthersAnalytics, OfNoObjectAreClassesOfTheFrame) {
  add_object("car", 80, 0.75F);
  add_classes({0.25F, 0.5F}, {"cat", "dog"});
  EXPECT_NE(line_of(buffer_).find(
                R"(],"classifications":[{"label":"dog","label_id":1,"confidence":0.5}]})"),
            std::string::npos)
      << line_of(buffer_);
}

TEST_F(OthersAnalytics, AreToldOnceWhereARegionIsOfThem) {
  add_object("bus", 300, 0.5F);
  const GstAnalyticsODMtd object = add_object("car", 80, 0.75F);
  add_region(buffer_, "car")->id = static_cast<gint>(object.id);
  const std::vector<FoundObject> regions = objects_on(buffer_.get(), kFrame);
  ASSERT_EQ(regions.size(), 2U);
  EXPECT_EQ(regions[0].label, "car");
  EXPECT_EQ(regions[0].confidence, 0.75);
  EXPECT_EQ(regions[1].label, "bus");
}

TEST_F(OthersAnalytics, AreApartFromARegionThatHasTheIdByChance) {
  const GstAnalyticsODMtd object = add_object("car", 300, 0.75F);
  add_region(buffer_, "car")->id = static_cast<gint>(object.id);
  EXPECT_EQ(objects_on(buffer_.get(), kFrame).size(), 2U);
}

TEST_F(OthersAnalytics, OfNputensordecAreToldOnce) {
  const Buffer buffer(gst_buffer_new());
  attach_to_frame(buffer.get(), gst_buffer_add_npu_inference_meta(buffer.get(), nullptr),
                  one_object(), card(), kFrame);
  npu::vision::Answer answer;
  answer.classes = {{1, 0.5F}};
  attach_to_region(buffer, answer, card());
  const std::vector<FoundObject> regions = objects_on(buffer.get(), kFrame);
  ASSERT_EQ(regions.size(), 1U);
  EXPECT_EQ(regions[0].classes.size(), 1U);
  EXPECT_EQ(regions[0].x, 79.75);
}

#if GST_CHECK_VERSION(1, 25, 0)
TEST_F(OthersAnalytics, MayBeTurned) {
  GstAnalyticsODMtd object;
  gst_analytics_relation_meta_add_oriented_od_mtd(relations_, g_quark_from_string("ship"), 80, 40,
                                                  40, 20, static_cast<gfloat>(G_PI / 2), 0.5F,
                                                  &object);
  const std::vector<FoundObject> regions = objects_on(buffer_.get(), kFrame);
  ASSERT_EQ(regions.size(), 1U);
  ASSERT_TRUE(regions[0].oriented);
  EXPECT_EQ(regions[0].oriented->center_x, 100);
  EXPECT_EQ(regions[0].oriented->width, 40);
  EXPECT_NEAR(regions[0].x, 90, 1e-4);
  EXPECT_NEAR(regions[0].height, 40, 1e-4);
}

/// An object with a mask of 3x2 values.
class OthersMasks : public OthersAnalytics {
 protected:
  /// `rows`: as its GstVideoMeta tells.
  void add_mask(guint rows) {
    GstBuffer* pixels = gst_buffer_new_allocate(nullptr, 6, nullptr);
    const guint8 values[] = {0, 1, 0, 1, 1, 0};
    gst_buffer_fill(pixels, 0, values, sizeof values);
    const gsize offsets[GST_VIDEO_MAX_PLANES] = {};
    const gint strides[GST_VIDEO_MAX_PLANES] = {3};
    gst_buffer_add_video_meta_full(pixels, GST_VIDEO_FRAME_FLAG_NONE, GST_VIDEO_FORMAT_GRAY8, 3,
                                   rows, 1, offsets, strides);
    guint ids[] = {1};
    GstAnalyticsSegmentationMtd segments;
    gst_analytics_relation_meta_add_segmentation_mtd(
        relations_, pixels, GST_SEGMENTATION_TYPE_INSTANCE, 1, ids, 80, 40, 40, 20, &segments);
    relate(GST_ANALYTICS_REL_TYPE_RELATE_TO, object_.id, segments.id);
  }

  const GstAnalyticsODMtd object_ = add_object("cat", 80, 0.75F);
};

TEST_F(OthersMasks, AreRead) {
  add_mask(2);
  const std::string line = line_of(buffer_);
  EXPECT_NE(line.find(R"("mask":{"x":80.0,"y":40.0,"w":40.0,"h":20.0,"size":[2,3],)"
                      R"("counts":[1,1,1,2,1]})"),
            std::string::npos)
      << line;
}

// Its last row would be far behind the memory.
TEST_F(OthersMasks, AreLeftOutWhereTheyAreLargerThanTheirMemory) {
  add_mask(1 << 20);
  const std::vector<FoundObject> regions = objects_on(buffer_.get(), kFrame);
  ASSERT_EQ(regions.size(), 1U);
  EXPECT_FALSE(regions[0].mask);
}
#endif
#endif

}  // namespace
}  // namespace gstnpu::others_test
