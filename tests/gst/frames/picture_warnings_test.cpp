#include "frames/picture_warnings.hpp"

#include <gtest/gtest.h>

#include "common/refs.hpp"
#include "support/expect.hpp"

namespace gstnpu {
namespace {

GstVideoInfo info_of(const char* caps) {
  GstVideoInfo info;
  const CapsRef parsed(gst_caps_from_string(caps));
  EXPECT_TRUE(gst_video_info_from_caps(&info, parsed.get())) << caps;
  return info;
}

TEST(PictureWarnings, AreNoneForOrdinaryVideo) {
  EXPECT_TRUE(
      picture_warnings(info_of("video/x-raw,format=NV12,width=64,height=48,colorimetry=bt709"))
          .empty());
}

struct Odd {
  const char* fields;
  const char* word;
};

class OddPictures : public testing::TestWithParam<Odd> {};

TEST_P(OddPictures, AreToldWithTheirCure) {
  const auto warnings = picture_warnings(info_of(
      (std::string("video/x-raw,format=NV12,width=64,height=48,") + GetParam().fields).c_str()));
  ASSERT_EQ(warnings.size(), 1u);
  EXPECT_TRUE(has(warnings[0], GetParam().word));
}

INSTANTIATE_TEST_SUITE_P(All, OddPictures,
                         testing::Values(Odd{"interlace-mode=interleaved", "deinterlace"},
                                         Odd{"interlace-mode=mixed", "deinterlace"},
                                         Odd{"colorimetry=bt2100-pq", "PQ"},
                                         Odd{"colorimetry=bt2100-hlg", "HLG"}),
                         [](const auto& row) { return std::to_string(row.index); });

TEST(Orientation, IsToldWhereFramesAreTurned) {
  const auto warning = [](const char* orientation) {
    GstTagList* tags = gst_tag_list_new(GST_TAG_IMAGE_ORIENTATION, orientation, nullptr);
    const std::string text = orientation_warning(tags);
    gst_tag_list_unref(tags);
    return text;
  };
  EXPECT_TRUE(has(warning("rotate-90"), "rotate-90"));
  EXPECT_TRUE(has(warning("flip-rotate-180"), "videoflip"));
  EXPECT_EQ(warning("rotate-0"), "");
  GstTagList* others = gst_tag_list_new(GST_TAG_TITLE, "t", nullptr);
  EXPECT_EQ(orientation_warning(others), "");
  gst_tag_list_unref(others);
}

TEST(Interlaced, IsByFrameWhereTheStreamIsMixed) {
  const BufferRef whole(gst_buffer_new()), fields(gst_buffer_new());
  GST_BUFFER_FLAG_SET(fields.get(), GST_VIDEO_BUFFER_FLAG_INTERLACED);
  const auto info = [](const std::string& mode) {
    return info_of(("video/x-raw,format=NV12,width=64,height=48,interlace-mode=" + mode).c_str());
  };
  EXPECT_FALSE(is_interlaced(info("progressive"), fields.get()));
  EXPECT_TRUE(is_interlaced(info("interleaved"), whole.get()));
  EXPECT_FALSE(is_interlaced(info("mixed"), whole.get()));
  EXPECT_TRUE(is_interlaced(info("mixed"), fields.get()));
}

}  // namespace
}  // namespace gstnpu
