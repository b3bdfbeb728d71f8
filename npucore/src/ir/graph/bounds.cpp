#include "bounds.hpp"

#include <algorithm>

#include "base/text.hpp"

#include "layer.hpp"
#include "xml.hpp"

namespace npu::ir {
namespace {

std::optional<std::int64_t> dimension(std::string_view text) {
  const auto value = parse_unsigned(text);
  if (!value || *value > INT64_MAX) return {};
  return static_cast<std::int64_t>(*value);
}

Bounds parse_dimension(std::string_view text) {
  const auto dots = text.find("..");
  if (dots == std::string_view::npos) {
    const auto exact = dimension(text);
    return {exact.value_or(0), exact};
  }
  return {dimension(trimmed(text.substr(0, dots))).value_or(0),
          dimension(trimmed(text.substr(dots + 2)))};
}

bool is_static(const Bounds& bounds) {
  return bounds.most && *bounds.most == bounds.least;
}

}  // namespace

std::optional<std::vector<Bounds>> parse_bounds(std::string_view text) {
  std::vector<Bounds> bounds;
  if (trimmed(text).empty()) return bounds;
  while (true) {
    const auto comma = text.find(',');
    const auto item = trimmed(text.substr(0, comma));
    if (item == "...") return {};
    bounds.push_back(parse_dimension(item));
    if (comma == std::string_view::npos) return bounds;
    text.remove_prefix(comma + 1);
  }
}

std::optional<std::vector<Bounds>> bounds_of(pugi::xml_node parameter) {
  return parse_bounds(parameter.child("data").attribute("shape").value());
}

void set_parameter_shape(pugi::xml_node parameter, const Shape& shape) {
  if (auto data = parameter.child("data")) {
    set(data, "shape", base::join(shape, ","));
  }
  set_port_shape(parameter.child("output").child("port"), shape);
}

std::optional<Shape> with_upper_bounds(pugi::xml_node parameter) {
  const auto bounds = bounds_of(parameter);
  if (!bounds) return {};
  Shape shape;
  for (const auto& dim : *bounds) shape.push_back(dim.most.value_or(-1));
  return shape;
}

void use_upper_bounds(pugi::xml_node net) {
  for (auto layer : net.child("layers").children("layer")) {
    if (layer_type(layer) != "Parameter") continue;
    const auto shape = with_upper_bounds(layer);
    if (!shape || std::find(shape->begin(), shape->end(), -1) != shape->end()) continue;
    if (shape != parse_shape(layer.child("data").attribute("shape").value())) {
      set_parameter_shape(layer, *shape);
    }
  }
}

bool has_stale_shapes(const Model::Impl& model) {
  if (model.reshaped) return true;
  const auto parameters = model.document.layers_of_type("Parameter");
  return std::any_of(parameters.begin(), parameters.end(), [](pugi::xml_node parameter) {
    const auto bounds = bounds_of(parameter);
    return bounds && !std::all_of(bounds->begin(), bounds->end(), is_static);
  });
}

}  // namespace npu::ir
