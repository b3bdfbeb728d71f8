// Which color something has.
#pragma once

#include <cstdint>
#include <string_view>

#include "sprite.hpp"

namespace gstnpu {

/// Of a label: the same in every run. Neighbouring numbers are far apart in hue.
Color color_of_label(std::string_view label);
/// Of an identity.
Color color_of_track(std::uint64_t id);
/// Of a class in a map, where many lie side by side: each has its own.
Color color_of_class(std::uint32_t id);
/// Black or white: what can be read on it.
Color ink_on(Color paper);

}  // namespace gstnpu
