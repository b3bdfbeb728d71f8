#include "palette.hpp"

#include <algorithm>
#include <array>
#include <cmath>

namespace gstnpu {
namespace {

// Bright enough for dark scenes and strong enough for light ones; neighbours differ clearly.
constexpr std::array<Color, 16> kColors = {{{255, 82, 82},
                                            {64, 196, 255},
                                            {255, 215, 64},
                                            {105, 240, 174},
                                            {224, 64, 251},
                                            {255, 145, 0},
                                            {83, 109, 254},
                                            {178, 255, 89},
                                            {255, 128, 171},
                                            {24, 255, 255},
                                            {255, 171, 64},
                                            {124, 77, 255},
                                            {0, 230, 118},
                                            {255, 64, 129},
                                            {198, 255, 0},
                                            {68, 138, 255}}};

}  // namespace

Color color_of_label(std::string_view label) {
  std::uint32_t hash = 2166136261U;  // FNV-1a
  for (const char c : label) {
    hash = (hash ^ static_cast<unsigned char>(c)) * 16777619U;
  }
  return kColors[(hash ^ hash >> 16) % kColors.size()];
}

Color color_of_track(std::uint64_t id) {
  return kColors[id % kColors.size()];
}

/// Steps by the golden ratio keep each hue far from those before it.
Color color_of_class(std::uint32_t id) {
  constexpr double kGolden = 0.618033988749895;
  const double hue = std::fmod(0.35 + id * kGolden, 1.0) * 6;
  const double strength = id % 3 == 2 ? 0.55 : 0.9, light = id % 2 == 1 ? 0.95 : 0.75;
  const auto part = [&](double from) {
    const double place = std::fmod(from + hue, 6.0);
    const double share = std::clamp(std::min(place, 4 - place), 0.0, 1.0);
    return static_cast<guint8>(std::lround(255 * light * (1 - strength * share)));
  };
  return {part(5), part(3), part(1)};
}

Color ink_on(Color paper) {
  const double light = 0.299 * paper.red + 0.587 * paper.green + 0.114 * paper.blue;
  return light > 140 ? Color{0, 0, 0} : Color{255, 255, 255};
}

}  // namespace gstnpu
