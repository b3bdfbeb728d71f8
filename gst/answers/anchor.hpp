// The point of its box that counts as an object's position.
#pragma once

#include <gst/gst.h>

#include <utility>

#include "frame_answer.hpp"

namespace gstnpu {

enum class Anchor { kBottom, kCenter };

inline GType anchor_type() {
  static const GEnumValue values[] = {
      {static_cast<gint>(Anchor::kBottom), "The middle of the lower edge", "bottom"},
      {static_cast<gint>(Anchor::kCenter), "The middle", "center"},
      {0, nullptr, nullptr}};
  static const GType type = g_enum_register_static("NpuAnchor", values);
  return type;
}

/// Frame pixels.
inline std::pair<double, double> point_of(const FoundObject& object, Anchor anchor) {
  const double down = anchor == Anchor::kBottom ? 1 : 0.5;
  return {object.x + object.width / 2, object.y + object.height * down};
}

}  // namespace gstnpu
