#pragma once

#include <gst/video/video.h>

#include <npucore/frame.hpp>
#include <optional>

#include "plugin/refs.hpp"

namespace gstnpu {

/// Raw video in every format that npucore takes, in system memory and as DMA-BUF.
CapsRef template_caps();

/// The same for frames of one format and size.
CapsRef caps_of_layout(const npu::FrameLayout& layout);

/// Format, size and colours; of DMA_DRM caps too, where their modifier is linear. nullopt for caps
/// that no frame of ours has.
std::optional<GstVideoInfo> parse_caps(const GstCaps* caps);

bool has_dmabuf_feature(const GstCaps* caps);

}  // namespace gstnpu
