#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <pugixml.hpp>
#include <string>
#include <string_view>
#include <vector>

#include <npucore/types.hpp>

#include "model_impl.hpp"

namespace npu::ir {

/// One dimension of an input as the IR writes it: "3", "?", "1..8", "2..", "..8".
struct Bounds {
  std::int64_t least = 0;
  std::optional<std::int64_t> most;  ///< nothing: no upper bound
};
/// The dimensions of a Parameter; nothing for a dynamic rank.
std::optional<std::vector<Bounds>> parse_bounds(std::string_view text);

/// Gives inputs, by name or tensor name, static shapes. Compilers and OpenVINO infer all other
/// shapes from these when they read a model, whatever the file says about its ports; the ports
/// given here keep the dimensions that stay true and lose the others (-1).
void reshape(Model::Impl& model, const std::map<std::string, Shape>& shapes);

/// A Parameter's shape with each bounded dimension at its bound; nothing for a dynamic rank.
std::optional<Shape> with_upper_bounds(pugi::xml_node parameter);
/// Gives all Parameters of a text for a compiler these shapes.
void use_upper_bounds(pugi::xml_node net);

/// Whether shapes inside the model belong to other input shapes than it will run with.
bool has_stale_shapes(const Model::Impl& model);

}  // namespace npu::ir
