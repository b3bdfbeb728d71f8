#pragma once

#include <gst/video/video.h>

#include <optional>
#include <string>

#include <npucore/frame.hpp>

#include "common/refs.hpp"

namespace gstnpu {

/// Raw video in every format that npucore takes, as linear DMA-BUFs, which are preferred, and in
/// system memory.
CapsRef template_caps();
/// The same caps, where a choice between NV12 and others begins with NV12: the least to read, and
/// what decoders make. Sources without a preference begin with their widest format.
CapsRef with_nv12_first(const GstCaps* caps);

/// What links before a model is open: tiled DMA-BUFs too. Linking would refuse them without a
/// reason, negotiation tells it.
CapsRef linkable_caps();

/// The same for frames of one format and size.
CapsRef caps_of_layout(const npu::FrameLayout& layout);

/// Format, size and colours; of DMA_DRM caps too, where their modifier is linear. nullopt for caps
/// that no frame of ours has.
std::optional<GstVideoInfo> parse_caps(const GstCaps* caps);

bool has_dmabuf_feature(const GstCaps* caps);

/// What `caps` say about tiled DMA-BUFs: DMA_DRM formats with a modifier, which no NPU reads.
struct TiledFormats {
  std::string first;     ///< "NV12:0x0100000000000002"; empty: there are none
  bool are_all = false;  ///< nothing else is in the caps
};
TiledFormats tiled_formats(const GstCaps* caps);

/// How to make frames of a tiled format linear, for the user.
std::string cure_of_tiles(const std::string& tiled_format);

std::string text_of(const GstCaps* caps);

}  // namespace gstnpu
