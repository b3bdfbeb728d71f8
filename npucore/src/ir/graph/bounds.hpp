#pragma once

#include <cstdint>
#include <optional>
#include <pugixml.hpp>
#include <string_view>
#include <vector>

#include <npucore/types.hpp>

#include "model_impl.hpp"

namespace npu::ir {

/// One dimension of an input as the IR tells it: "3", "?", "1..8", "2..", "..8".
struct Bounds {
  std::int64_t least = 0;
  std::optional<std::int64_t> most;  ///< nothing: no upper bound
};
/// The dimensions of a Parameter; nothing for a dynamic rank.
std::optional<std::vector<Bounds>> parse_bounds(std::string_view text);
std::optional<std::vector<Bounds>> bounds_of(pugi::xml_node parameter);

/// Also as the shape of the Parameter's output.
void set_parameter_shape(pugi::xml_node parameter, const Shape& shape);
/// A Parameter's shape with each bounded dimension at its bound; nothing for a dynamic rank.
std::optional<Shape> with_upper_bounds(pugi::xml_node parameter);
/// Gives all Parameters of a text on its way to a compiler these shapes.
void use_upper_bounds(pugi::xml_node net);

/// Whether shapes inside the model are those of other input shapes than the ones it will run with.
bool has_stale_shapes(const Model::Impl& model);

}  // namespace npu::ir
