// Whether what is drawn goes with the frames instead: GstVideoOverlayCompositionMeta.
#pragma once

#include <gst/gst.h>

#include "common/refs.hpp"

namespace gstnpu {

/// What caps say of it.
bool has_composition_feature(const GstCaps* caps);
/// Each of the caps' structures with the feature.
CapsRef with_composition_feature(const GstCaps* caps);

/// What stands on the other side of an element that adds compositions where `attaches`, and
/// otherwise takes caps as they are. Compositions of others stay.
CapsRef caps_of_other_side(GstPadDirection direction, GstCaps* caps, bool attaches);

/// Prefers compositions.
CapsRef chosen_of(const GstCaps* caps);

}  // namespace gstnpu
