// Caps of npuinfer and npuimport, and how they read other elements' caps.
#include "frames/caps.hpp"

#include <gst/allocators/gstdmabuf.h>
#include <gtest/gtest.h>

#include "frames/frame_description.hpp"
#include "support/expect.hpp"

namespace gstnpu {
namespace {

CapsRef caps_from(const std::string& text) {
  return CapsRef(gst_caps_from_string(text.c_str()));
}

std::string format_of(const GstCaps* caps, guint index) {
  const GstStructure* structure = gst_caps_get_structure(caps, index);
  const gchar* format = gst_structure_get_string(structure, "format");
  const bool is_dmabuf = gst_caps_features_contains(gst_caps_get_features(caps, index),
                                                    GST_CAPS_FEATURE_MEMORY_DMABUF);
  return std::string(is_dmabuf ? "DMABuf " : "") + (format ? format : "list");
}

TEST(TemplateCaps, PreferDmaBufsInTheNewestForm) {
  const CapsRef caps = template_caps();
  std::vector<std::string> forms;
  for (guint i = 0; i < gst_caps_get_size(caps.get()); ++i) {
    forms.push_back(format_of(caps.get(), i));
  }
#if GST_CHECK_VERSION(1, 24, 0)
  EXPECT_EQ(forms, (std::vector<std::string>{"DMABuf DMA_DRM", "DMABuf list", "list"}));
#else
  EXPECT_EQ(forms, (std::vector<std::string>{"DMABuf list", "list"}));
#endif
}

TEST(TemplateCaps, HaveNoTiledFormat) {
  EXPECT_EQ(tiled_formats(template_caps().get()).first, "");
}

TEST(CapsOfALayout, ComeInEveryForm) {
  const CapsRef caps = caps_of_layout(npu::FrameLayout::tight(npu::PixelFormat::kI420, 64, 48));
  EXPECT_EQ(gst_caps_get_size(caps.get()), 2 * gst_caps_get_size(template_caps().get()));
  for (guint i = 0; i < gst_caps_get_size(caps.get()); ++i) {
    const GstStructure* structure = gst_caps_get_structure(caps.get(), i);
    const gchar* drm_format = gst_structure_get_string(structure, "drm-format");
    EXPECT_STREQ(drm_format ? drm_format : gst_structure_get_string(structure, "format"),
                 drm_format ? "YU12" : "I420");
  }
}

// Converters take the first that they can make.
TEST(CapsOfALayout, BeginWithItsColours) {
  for (const auto& [matrix, range, expected] :
       {std::tuple{npu::ColorMatrix::kBT601, npu::ColorRange::kLimited, "bt601"},
        std::tuple{npu::ColorMatrix::kBT709, npu::ColorRange::kLimited, "bt709"},
        std::tuple{npu::ColorMatrix::kBT2020, npu::ColorRange::kLimited, "bt2020"},
        std::tuple{npu::ColorMatrix::kBT709, npu::ColorRange::kFull, "1:3:5:1"}}) {
    npu::FrameLayout layout = npu::FrameLayout::tight(npu::PixelFormat::kNV12, 64, 48);
    layout.matrix = matrix;
    layout.range = range;
    const CapsRef caps = caps_of_layout(layout);
    const auto colors = [&](guint index) {
      return gst_structure_get_string(gst_caps_get_structure(caps.get(), index), "colorimetry");
    };
    EXPECT_STREQ(colors(0), expected);
    EXPECT_EQ(colors(1), nullptr) << "others pass with a warning";
  }
  const CapsRef rgb = caps_of_layout(npu::FrameLayout::tight(npu::PixelFormat::kRGB, 64, 48));
  EXPECT_FALSE(gst_structure_has_field(gst_caps_get_structure(rgb.get(), 0), "colorimetry"));
}

TEST(Nv12First, IsWhereOthersMayBeChosen) {
  const auto ordered = [](const char* caps) {
    return text_of(with_nv12_first(caps_from(caps).get()).get());
  };
  const auto written = [](const char* caps) { return text_of(caps_from(caps).get()); };
  EXPECT_EQ(ordered("video/x-raw,format={P010_10LE,RGB,NV12},width=8"),
            written("video/x-raw,format=NV12,width=8;"
                    "video/x-raw,format={P010_10LE,RGB,NV12},width=8"));
  for (const char* same : {"video/x-raw,format=RGB", "video/x-raw,format={RGB,BGR}",
                           "video/x-raw,format=NV12", "EMPTY", "ANY"}) {
    EXPECT_EQ(ordered(same), written(same));
  }
}

TEST(Nv12First, DoesNotGoBeforeDmaBufs) {
  const CapsRef caps = with_nv12_first(
      caps_from("video/x-raw(memory:DMABuf),format=BGRx;video/x-raw,format={RGB,NV12}").get());
  EXPECT_EQ(format_of(caps.get(), 0), "DMABuf BGRx");
  EXPECT_EQ(format_of(caps.get(), 1), "NV12");
}

// ---- Tiled formats

struct TiledRow {
  const char* name;
  const char* caps;
  const char* first;
  bool are_all;
};

class Tiled : public testing::TestWithParam<TiledRow> {};

TEST_P(Tiled, AreFound) {
  const TiledFormats tiled = tiled_formats(caps_from(GetParam().caps).get());
  EXPECT_EQ(tiled.first, GetParam().first);
  EXPECT_EQ(tiled.are_all, GetParam().are_all);
}

INSTANTIATE_TEST_SUITE_P(
    All, Tiled,
    testing::Values(TiledRow{"one", "video/x-raw(memory:DMABuf),drm-format=NV12:0x0100000000000002",
                             "NV12:0x0100000000000002", true},
                    TiledRow{"list",
                             "video/x-raw(memory:DMABuf),drm-format={P010:0x0100000000000009,NV12:"
                             "0x0100000000000002}",
                             "P010:0x0100000000000009", true},
                    TiledRow{"beside_linear",
                             "video/x-raw(memory:DMABuf),drm-format={NV12,NV12:0x0100000000000002}",
                             "NV12:0x0100000000000002", false},
                    TiledRow{"beside_ordinary_memory",
                             "video/x-raw(memory:DMABuf),drm-format=NV12:0x0100000000000002;video/"
                             "x-raw,format=NV12",
                             "NV12:0x0100000000000002", false},
                    TiledRow{"linear", "video/x-raw(memory:DMABuf),drm-format=NV12", "", false},
                    TiledRow{"old_form", "video/x-raw(memory:DMABuf),format=NV12", "", false},
                    TiledRow{"ordinary", "video/x-raw,format=NV12", "", false},
                    TiledRow{"any", "ANY", "", false}, TiledRow{"empty", "EMPTY", "", false}),
    by_name);

TEST(TextOfCaps, CountsLongListsOfFormats) {
  const CapsRef few = caps_from("video/x-raw,format={NV12,I420},width=640");
  EXPECT_EQ(text_of(few.get()), "video/x-raw, format=(string){ NV12, I420 }, width=(int)640");
  const CapsRef many =
      caps_from("video/x-raw,format={NV12,I420,RGB,BGR,RGBx,BGRx,RGBA,BGRA,YUY2},width=640");
  EXPECT_EQ(text_of(many.get()), "video/x-raw, format=(string)one-of-9, width=(int)640");
}

// Intel's driver writes no other format in lines.
TEST(CureOfTiles, NamesThePipelinesThatHelp) {
  const std::string cure = cure_of_tiles("NV12:0x0100000000000002");
  EXPECT_TRUE(
      has(cure, "vapostproc ! video/x-raw(memory:DMABuf),format=DMA_DRM,drm-format=YU12\""));
  EXPECT_TRUE(has(cure, "vapostproc ! video/x-raw,format=NV12\""));
}

// ---- Reading caps

struct ParseRow {
  const char* name;
  const char* caps;  ///< behind the size
  GstVideoFormat format;
  npu::ColorMatrix matrix;
  npu::ColorRange range;
};

class Parse : public testing::TestWithParam<ParseRow> {};

TEST_P(Parse, GivesFormatSizeRateAndColors) {
  const ParseRow& row = GetParam();
  const auto info = parse_caps(
      caps_from(std::string("video/x-raw") + row.caps + ",width=1280,height=720,framerate=25/1")
          .get());
  ASSERT_TRUE(info);
  EXPECT_EQ(GST_VIDEO_INFO_FORMAT(&*info), row.format);
  EXPECT_EQ(GST_VIDEO_INFO_WIDTH(&*info), 1280);
  EXPECT_EQ(GST_VIDEO_INFO_HEIGHT(&*info), 720);
  EXPECT_EQ(GST_VIDEO_INFO_FPS_N(&*info), 25);
  EXPECT_GT(GST_VIDEO_INFO_PLANE_STRIDE(&*info, 0), 0) << "frames without GstVideoMeta have these";
  EXPECT_EQ(color_matrix_of(*info), row.matrix);
  EXPECT_EQ(color_range_of(*info), row.range);
}

using npu::ColorMatrix;
using npu::ColorRange;

INSTANTIATE_TEST_SUITE_P(
    All, Parse,
    testing::Values(
        ParseRow{"plain", ",format=NV12", GST_VIDEO_FORMAT_NV12, ColorMatrix::kBT709,
                 ColorRange::kLimited},
        ParseRow{"old_form", "(memory:DMABuf),format=NV12,colorimetry=bt601", GST_VIDEO_FORMAT_NV12,
                 ColorMatrix::kBT601, ColorRange::kLimited}
#if GST_CHECK_VERSION(1, 24, 0)
        ,
        ParseRow{"drm_without_colors", "(memory:DMABuf),format=DMA_DRM,drm-format=NV12",
                 GST_VIDEO_FORMAT_NV12, ColorMatrix::kBT709, ColorRange::kLimited},
        ParseRow{"drm_bt601", "(memory:DMABuf),format=DMA_DRM,drm-format=NV12,colorimetry=bt601",
                 GST_VIDEO_FORMAT_NV12, ColorMatrix::kBT601, ColorRange::kLimited},
        ParseRow{"drm_full_bt601",
                 "(memory:DMABuf),format=DMA_DRM,drm-format=YU12,colorimetry=1:4:7:1",
                 GST_VIDEO_FORMAT_I420, ColorMatrix::kBT601, ColorRange::kFull},
        ParseRow{"drm_bt2020", "(memory:DMABuf),format=DMA_DRM,drm-format=NV12,colorimetry=bt2020",
                 GST_VIDEO_FORMAT_NV12, ColorMatrix::kBT2020, ColorRange::kLimited}
#endif
        ),
    by_name);

class Unreadable : public testing::TestWithParam<std::pair<const char*, const char*>> {};

TEST_P(Unreadable, CapsGiveNothing) {
  EXPECT_FALSE(parse_caps(caps_from(GetParam().second).get()));
}

INSTANTIATE_TEST_SUITE_P(
    All, Unreadable,
    testing::Values(
        std::pair{"no_size", "video/x-raw,format=NV12"},
        std::pair{"other_format", "video/x-raw,format=AYUV,width=64,height=48"},
        std::pair{"no_video", "audio/x-raw,format=S16LE"},
        std::pair{"drm_without_a_format",
                  "video/x-raw(memory:DMABuf),format=DMA_DRM,width=64,height=48"},
        std::pair{"drm_in_ordinary_memory",
                  "video/x-raw,format=DMA_DRM,drm-format=NV12,width=64,height=48"},
        std::pair{"tiled",
                  "video/x-raw(memory:DMABuf),format=DMA_DRM,drm-format=NV12:0x0100000000000002,"
                  "width=64,height=48"},
        std::pair{"implicit_modifier",
                  "video/x-raw(memory:DMABuf),format=DMA_DRM,drm-format=NV12:0x00ffffffffffffff,"
                  "width=64,height=48"},
        // Samsung's 64x32 tiles, which GStreamer can turn into a video info of a format of its own.
        std::pair{"tiled_as_gstreamer_knows_it",
                  "video/x-raw(memory:DMABuf),format=DMA_DRM,drm-format=NV12:0x0400000000000001,"
                  "width=64,height=64"}),
    [](const auto& row) { return std::string(row.param.first); });

}  // namespace
}  // namespace gstnpu
