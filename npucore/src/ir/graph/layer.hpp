#pragma once

#include <cstdint>
#include <optional>
#include <pugixml.hpp>
#include <string>
#include <string_view>
#include <vector>

#include <npucore/types.hpp>

namespace npu::ir {

/// Without the blanks and line breaks around it.
std::string_view trimmed(std::string_view text);
/// Takes digits only, no sign, no blanks.
std::optional<std::uint64_t> parse_unsigned(std::string_view text);
/// Takes a decimal point in every locale, and blanks around the number.
std::optional<double> parse_real(std::string_view text);

std::uint64_t layer_id(pugi::xml_node layer);
std::string layer_name(pugi::xml_node layer);
std::string layer_type(pugi::xml_node layer);
/// "layer 'conv1' (Convolution, id 12)", for messages.
std::string describe_layer(pugi::xml_node layer);
std::vector<pugi::xml_node> input_ports(pugi::xml_node layer);
std::vector<pugi::xml_node> output_ports(pugi::xml_node layer);
/// One of input_ports(); empty if there are fewer. Visits only the ports it must: many layers may
/// look at one that has thousands.
pugi::xml_node input_port(pugi::xml_node layer, std::size_t position);

/// Tensor names of an output port: a comma separates, "\," is a comma.
std::vector<std::string> tensor_names(pugi::xml_node port);
/// The names in an attribute's text, as tensor_names().
std::vector<std::string> split_tensor_names(std::string_view text);
/// The names without repetitions, in the order of their first places.
std::vector<std::string> each_once(const std::vector<std::string>& names);
/// Inverse of tensor_names: the text of a port's attribute "names".
std::string join_tensor_names(const std::vector<std::string>& names);

/// Letters of the layout that OpenVINO wrote to a Parameter, "[N,C,H,W]" as "NCHW"; empty if it
/// wrote none.
std::string layout_letters(pugi::xml_node layer);

/// Dimensions of a port; -1 is dynamic.
Shape port_shape(pugi::xml_node port);
void set_port_shape(pugi::xml_node port, const Shape& shape);
/// "1,3,?,2..8" as in <data shape>; ranges and "?" are -1. Nothing for a dynamic rank or no shape.
std::optional<Shape> parse_shape(std::string_view text);

/// An output port's attribute "precision" ("FP32", "I64", "BOOL") as a type.
ElementType precision_to_type(const std::string& precision);
/// Inverse of precision_to_type.
std::string type_to_precision(ElementType type);

}  // namespace npu::ir
