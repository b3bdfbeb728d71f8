#include "picture_warnings.hpp"

#include "common/refs.hpp"

namespace gstnpu {

std::vector<std::string> picture_warnings(const GstVideoInfo& info) {
  std::vector<std::string> warnings;
  if (GST_VIDEO_INFO_IS_INTERLACED(&info)) {
    warnings.emplace_back(
        "the stream is interlaced, and both fields of a frame are inferred as one picture: put "
        "deinterlace in front");
  }
  const GstVideoTransferFunction transfer = info.colorimetry.transfer;
  if (transfer == GST_VIDEO_TRANSFER_SMPTE2084 || transfer == GST_VIDEO_TRANSFER_ARIB_STD_B67) {
    warnings.push_back(std::string("the stream is high dynamic range (") +
                       (transfer == GST_VIDEO_TRANSFER_SMPTE2084 ? "PQ" : "HLG") +
                       "), which models for ordinary video see as flat and dark: map its tones in "
                       "front, as vapostproc hdr-tone-mapping=true does");
  }
  return warnings;
}

std::string orientation_warning(const GstTagList* tags) {
  gchar* found = nullptr;
  if (!gst_tag_list_get_string(tags, GST_TAG_IMAGE_ORIENTATION, &found)) return {};
  const std::string orientation = TextRef(found).get();
  if (orientation == "rotate-0") return {};
  return "the stream is to be shown with " + orientation +
         ", but frames are inferred as they come: put videoflip video-direction=auto in front";
}

bool is_interlaced(const GstVideoInfo& info, GstBuffer* frame) {
  if (!GST_VIDEO_INFO_IS_INTERLACED(&info)) return false;
  return GST_VIDEO_INFO_INTERLACE_MODE(&info) != GST_VIDEO_INTERLACE_MODE_MIXED ||
         GST_BUFFER_FLAG_IS_SET(frame, GST_VIDEO_BUFFER_FLAG_INTERLACED);
}

}  // namespace gstnpu
