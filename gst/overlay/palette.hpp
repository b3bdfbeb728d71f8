// Chooses colors.
#pragma once

#include <cstdint>
#include <string_view>

#include "sprite.hpp"

namespace gstnpu {

/// A label's color, the same in every run. Neighbouring colors of the palette differ clearly in
/// hue.
Color color_of_label(std::string_view label);
/// A tracked object's color.
Color color_of_track(std::uint64_t id);
/// A class's color in a map, where many classes lie side by side: each has its own.
Color color_of_class(std::uint32_t id);
/// Black or white, whichever is legible on `paper`.
Color ink_on(Color paper);

}  // namespace gstnpu
