#pragma once

#include <gst/video/video.h>

#include <optional>
#include <string>

#include <npucore/frame.hpp>

#include "common/refs.hpp"

namespace gstnpu {

/// Raw video in every format that npucore reads: first as linear DMA-BUFs, then in system memory.
CapsRef template_caps();
/// Moves NV12 to the front of each choice of formats: it is the least to read, and decoders make
/// it. Sources without a preference would take their widest format.
CapsRef with_nv12_first(const GstCaps* caps);

/// Caps for links before a model is open. They include tiled DMA-BUFs: linking would refuse those
/// without a reason, while negotiation gives one.
CapsRef linkable_caps();

/// As template_caps(), for frames of one format and size.
CapsRef caps_of_layout(const npu::FrameLayout& layout);

/// Reads format, size and colours, also from DMA_DRM caps with a linear modifier. nullopt for caps
/// that the elements do not take.
std::optional<GstVideoInfo> parse_caps(const GstCaps* caps);

bool has_dmabuf_feature(const GstCaps* caps);

/// The tiled DMA-BUFs in `caps`: DMA_DRM formats with a modifier, which no NPU reads.
struct TiledFormats {
  std::string first;     ///< "NV12:0x0100000000000002"; empty: there are none
  bool are_all = false;  ///< nothing else is in the caps
};
TiledFormats tiled_formats(const GstCaps* caps);

/// Advice for the user: how to make frames of a tiled format linear.
std::string cure_of_tiles(const std::string& tiled_format);

/// Names up to eight formats; more are only counted.
std::string text_of(const GstCaps* caps);
/// The name of the frames' format where no element reads it, else all of the caps.
std::string format_of(const GstCaps* caps);

}  // namespace gstnpu
