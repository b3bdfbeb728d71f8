#include "attachment.hpp"

#include <gst/video/video.h>

namespace gstnpu {
namespace {

constexpr const char* kFeature = GST_CAPS_FEATURE_META_GST_VIDEO_OVERLAY_COMPOSITION;

bool has_feature(const GstCaps* caps, guint index) {
  const GstCapsFeatures* features = gst_caps_get_features(caps, index);
  return features && !gst_caps_features_is_any(features) &&
         gst_caps_features_contains(features, kFeature);
}

enum class Feature { kWith, kWithout, kAsItIs };

void append(GstCaps* to, const GstCaps* from, guint index, Feature feature) {
  GstCapsFeatures* features = gst_caps_features_copy(gst_caps_get_features(from, index));
  if (feature == Feature::kWithout) {
    gst_caps_features_remove(features, kFeature);
  } else if (feature == Feature::kWith && !gst_caps_features_is_any(features) &&
             !has_feature(from, index)) {
    gst_caps_features_add(features, kFeature);
  }
  gst_caps_append_structure_full(to, gst_structure_copy(gst_caps_get_structure(from, index)),
                                 features);
}

}  // namespace

bool has_composition_feature(const GstCaps* caps) {
  return !gst_caps_is_any(caps) && gst_caps_get_size(caps) > 0 && has_feature(caps, 0);
}

CapsRef with_composition_feature(const GstCaps* caps) {
  CapsRef all(gst_caps_new_empty());
  for (guint i = 0; i < gst_caps_get_size(caps); ++i) append(all.get(), caps, i, Feature::kWith);
  return all;
}

CapsRef caps_of_other_side(GstPadDirection direction, GstCaps* caps, bool attaches) {
  if (gst_caps_is_any(caps) || !attaches) return CapsRef(gst_caps_ref(caps));
  CapsRef other(gst_caps_new_empty());
  for (guint i = 0; i < gst_caps_get_size(caps); ++i) {
    const bool adds = direction == GST_PAD_SINK && !has_feature(caps, i);
    const bool takes_away = direction == GST_PAD_SRC && has_feature(caps, i);
    if (adds) {
      append(other.get(), caps, i, Feature::kWith);
    }
    if (takes_away) {
      append(other.get(), caps, i, Feature::kWithout);
    }
    append(other.get(), caps, i, Feature::kAsItIs);
  }
  return other;
}

CapsRef chosen_of(const GstCaps* caps) {
  guint chosen = 0;
  while (chosen < gst_caps_get_size(caps) && !has_feature(caps, chosen)) ++chosen;
  if (chosen == gst_caps_get_size(caps)) {
    chosen = 0;
  }
  return CapsRef(gst_caps_copy_nth(caps, chosen));
}

}  // namespace gstnpu
