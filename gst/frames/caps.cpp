#include "caps.hpp"

#include <gst/allocators/gstdmabuf.h>

#include <algorithm>
#include <string>
#include <vector>

#include "frame_description.hpp"

#if GST_CHECK_VERSION(1, 24, 0)
#include <gst/video/video-info-dma.h>
#endif

namespace gstnpu {
namespace {

void append_format(GValue* list, const char* name) {
  GValue value = G_VALUE_INIT;
  g_value_init(&value, G_TYPE_STRING);
  g_value_set_string(&value, name);
  gst_value_list_append_and_take_value(list, &value);
}

/// Any size and rate; the caller adds the formats.
GstStructure* any_video() {
  return gst_structure_new("video/x-raw", "width", GST_TYPE_INT_RANGE, 1, G_MAXINT, "height",
                           GST_TYPE_INT_RANGE, 1, G_MAXINT, "framerate", GST_TYPE_FRACTION_RANGE, 0,
                           1, G_MAXINT, 1, nullptr);
}

void append_dmabuf(GstCaps* caps, GstStructure* structure) {
  gst_caps_append_structure_full(caps, structure,
                                 gst_caps_features_new(GST_CAPS_FEATURE_MEMORY_DMABUF, nullptr));
}

#if GST_CHECK_VERSION(1, 24, 0)
/// Adds linear frames by their DRM names without a modifier: an NPU reads no tiles.
void append_drm_caps(GstCaps* caps) {
  GValue names = G_VALUE_INIT;
  gst_value_list_init(&names, 0);
  for (const GstVideoFormat format : readable_formats()) {
    const guint32 fourcc = gst_video_dma_drm_fourcc_from_format(format);
    if (fourcc == 0) continue;
    constexpr guint64 kLinear = 0;
    const TextRef name(gst_video_dma_drm_fourcc_to_string(fourcc, kLinear));
    if (name) {
      append_format(&names, name.get());
    }
  }
  GstStructure* structure = any_video();
  gst_structure_set(structure, "format", G_TYPE_STRING, "DMA_DRM", nullptr);
  gst_structure_take_value(structure, "drm-format", &names);
  append_dmabuf(caps, structure);
}
#endif

/// The DRM formats of a structure for DMA-BUFs, listed or single.
std::vector<std::string> drm_formats(const GstCaps* caps, guint index) {
  const GstCapsFeatures* features = gst_caps_get_features(caps, index);
  if (!features || !gst_caps_features_contains(features, GST_CAPS_FEATURE_MEMORY_DMABUF)) return {};
  const GValue* field = gst_structure_get_value(gst_caps_get_structure(caps, index), "drm-format");
  std::vector<std::string> formats;
  const auto add = [&](const GValue* value) {
    if (value && G_VALUE_HOLDS_STRING(value)) {
      formats.emplace_back(g_value_get_string(value));
    }
  };
  if (!field || !GST_VALUE_HOLDS_LIST(field)) {
    add(field);
    return formats;
  }
  for (guint i = 0; i < gst_value_list_get_size(field); ++i) {
    add(gst_value_list_get_value(field, i));
  }
  return formats;
}

/// Linear formats are written without a modifier.
bool is_tiled(const std::string& drm_format) {
  return drm_format.find(':') != std::string::npos;
}

/// Colorimetry of frames with these colours. Transfer and primaries are the usual ones for the
/// matrix.
std::string colorimetry_of(const npu::FrameLayout& layout) {
  GstVideoColorimetry colors = {};
  switch (layout.matrix) {
    case npu::ColorMatrix::kBT601:
      gst_video_colorimetry_from_string(&colors, GST_VIDEO_COLORIMETRY_BT601);
      break;
    case npu::ColorMatrix::kBT709:
      gst_video_colorimetry_from_string(&colors, GST_VIDEO_COLORIMETRY_BT709);
      break;
    case npu::ColorMatrix::kBT2020:
      gst_video_colorimetry_from_string(&colors, GST_VIDEO_COLORIMETRY_BT2020);
      break;
  }
  if (layout.range == npu::ColorRange::kFull) {
    colors.range = GST_VIDEO_COLOR_RANGE_0_255;
  }
  return TextRef(gst_video_colorimetry_to_string(&colors)).get();
}

}  // namespace

CapsRef template_caps() {
  GValue names = G_VALUE_INIT;
  gst_value_list_init(&names, 0);
  for (const GstVideoFormat format : readable_formats()) {
    append_format(&names, gst_video_format_to_string(format));
  }
  GstStructure* video = any_video();
  gst_structure_take_value(video, "format", &names);
  CapsRef caps(gst_caps_new_empty());
  GstStructure* dmabuf = gst_structure_copy(video);
#if GST_CHECK_VERSION(1, 24, 0)
  append_drm_caps(caps.get());
#endif
  append_dmabuf(caps.get(), dmabuf);
  gst_caps_append_structure(caps.get(), video);
  return caps;
}

CapsRef with_nv12_first(const GstCaps* caps) {
  if (gst_caps_is_any(caps)) return CapsRef(gst_caps_copy(caps));
  CapsRef ordered(gst_caps_new_empty());
  const auto append = [&](GstStructure* structure, guint index) {
    gst_caps_append_structure_full(ordered.get(), structure,
                                   gst_caps_features_copy(gst_caps_get_features(caps, index)));
  };
  const StructureRef nv12(
      gst_structure_new("video/x-raw", "format", G_TYPE_STRING, "NV12", nullptr));
  for (guint i = 0; i < gst_caps_get_size(caps); ++i) {
    const GstStructure* structure = gst_caps_get_structure(caps, i);
    const GValue* formats = gst_structure_get_value(structure, "format");
    if (formats && GST_VALUE_HOLDS_LIST(formats)) {
      if (GstStructure* first = gst_structure_intersect(structure, nv12.get())) {
        append(first, i);
      }
    }
    append(gst_structure_copy(structure), i);
  }
  return ordered;
}

CapsRef linkable_caps() {
  CapsRef caps = template_caps();
#if GST_CHECK_VERSION(1, 24, 0)
  GstStructure* any_drm = any_video();
  gst_structure_set(any_drm, "format", G_TYPE_STRING, "DMA_DRM", nullptr);
  append_dmabuf(caps.get(), any_drm);
#endif
  return caps;
}

CapsRef caps_of_layout(const npu::FrameLayout& layout) {
  const CapsRef all = template_caps();
  CapsRef caps(gst_caps_new_empty());
  const GstVideoFormat format = to_video_format(layout.format);
  for (guint i = 0; i < gst_caps_get_size(all.get()); ++i) {
    StructureRef structure(gst_structure_copy(gst_caps_get_structure(all.get(), i)));
    if (gst_structure_has_field(structure.get(), "drm-format")) {
#if GST_CHECK_VERSION(1, 24, 0)
      const guint32 fourcc = gst_video_dma_drm_fourcc_from_format(format);
      const TextRef name(fourcc ? gst_video_dma_drm_fourcc_to_string(fourcc, 0) : nullptr);
      if (!name) continue;
      gst_structure_set(structure.get(), "drm-format", G_TYPE_STRING, name.get(), nullptr);
#endif
    } else {
      gst_structure_set(structure.get(), "format", G_TYPE_STRING,
                        gst_video_format_to_string(format), nullptr);
    }
    gst_structure_set(structure.get(), "width", G_TYPE_INT, static_cast<gint>(layout.width),
                      "height", G_TYPE_INT, static_cast<gint>(layout.height), nullptr);
    const GstCapsFeatures* features = gst_caps_get_features(all.get(), i);
    if (GST_VIDEO_FORMAT_INFO_IS_YUV(gst_video_format_get_info(format))) {
      GstStructure* exact = gst_structure_copy(structure.get());
      gst_structure_set(exact, "colorimetry", G_TYPE_STRING, colorimetry_of(layout).c_str(),
                        nullptr);
      gst_caps_append_structure_full(caps.get(), exact, gst_caps_features_copy(features));
    }
    gst_caps_append_structure_full(caps.get(), structure.release(),
                                   gst_caps_features_copy(features));
  }
  return caps;
}

std::optional<GstVideoInfo> parse_caps(const GstCaps* caps) {
  GstVideoInfo info;
#if GST_CHECK_VERSION(1, 24, 0)
  if (gst_video_is_dma_drm_caps(caps)) {
    GstVideoInfoDmaDrm drm;
    if (!gst_video_info_dma_drm_from_caps(&drm, caps) || drm.drm_modifier != 0 ||
        !gst_video_info_dma_drm_to_video_info(&drm, &info)) {
      return std::nullopt;
    }
    return to_pixel_format(GST_VIDEO_INFO_FORMAT(&info)) ? std::optional(info) : std::nullopt;
  }
#endif
  if (!gst_video_info_from_caps(&info, caps)) return std::nullopt;
  return to_pixel_format(GST_VIDEO_INFO_FORMAT(&info)) ? std::optional(info) : std::nullopt;
}

bool has_dmabuf_feature(const GstCaps* caps) {
  const GstCapsFeatures* features = gst_caps_get_features(caps, 0);
  return features && gst_caps_features_contains(features, GST_CAPS_FEATURE_MEMORY_DMABUF);
}

TiledFormats tiled_formats(const GstCaps* caps) {
  TiledFormats tiled;
  if (gst_caps_is_any(caps)) return tiled;
  tiled.are_all = !gst_caps_is_empty(caps);
  for (guint i = 0; i < gst_caps_get_size(caps); ++i) {
    const std::vector<std::string> formats = drm_formats(caps, i);
    for (const std::string& format : formats) {
      if (is_tiled(format) && tiled.first.empty()) {
        tiled.first = format;
      }
    }
    tiled.are_all &= !formats.empty() && std::all_of(formats.begin(), formats.end(), is_tiled);
  }
  return tiled;
}

std::string cure_of_tiles(const std::string& tiled_format) {
  return "the NPU cannot read tiled frames (" + tiled_format +
         "); put \"vapostproc ! video/x-raw(memory:DMABuf),format=DMA_DRM,drm-format=YU12\" in "
         "front, which Intel's GPUs write in lines, or \"vapostproc ! video/x-raw,format=NV12\", "
         "which costs a copy of each frame";
}

std::string text_of(const GstCaps* caps) {
  constexpr guint kMostFormats = 8;
  const CapsRef told(gst_caps_copy(caps));
  for (guint i = 0; i < gst_caps_get_size(told.get()); ++i) {
    GstStructure* const structure = gst_caps_get_structure(told.get(), i);
    for (const char* field : {"format", "drm-format"}) {
      const GValue* const formats = gst_structure_get_value(structure, field);
      if (!formats || !GST_VALUE_HOLDS_LIST(formats)) continue;
      if (const guint count = gst_value_list_get_size(formats); count > kMostFormats) {
        const std::string text = "one-of-" + std::to_string(count);
        gst_structure_set(structure, field, G_TYPE_STRING, text.c_str(), nullptr);
      }
    }
  }
  return TextRef(gst_caps_to_string(told.get())).get();
}

std::string format_of(const GstCaps* caps) {
  const bool is_one = !gst_caps_is_any(caps) && gst_caps_get_size(caps) == 1;
  const char* name =
      is_one ? gst_structure_get_string(gst_caps_get_structure(caps, 0), "format") : nullptr;
  const GstVideoFormat format =
      name ? gst_video_format_from_string(name) : GST_VIDEO_FORMAT_UNKNOWN;
  return format == GST_VIDEO_FORMAT_UNKNOWN || to_pixel_format(format) ? text_of(caps) : name;
}

}  // namespace gstnpu
