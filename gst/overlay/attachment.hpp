// Decides whether sprites go along with frames as a GstVideoOverlayCompositionMeta instead of being
// drawn on them.
#pragma once

#include <gst/gst.h>

#include "common/refs.hpp"

namespace gstnpu {

/// Whether the first structure of the caps has the composition feature.
bool has_composition_feature(const GstCaps* caps);
/// Adds the feature to each of the caps' structures.
CapsRef with_composition_feature(const GstCaps* caps);

/// Caps on the other side of an element that may add compositions where `attaches`, and otherwise
/// leaves caps as they are. Compositions of other elements stay.
CapsRef caps_of_other_side(GstPadDirection direction, GstCaps* caps, bool attaches);

/// The first structure with compositions, else the first one.
CapsRef chosen_of(const GstCaps* caps);

}  // namespace gstnpu
