// A graph's inputs and outputs, as the extension describes them.
#pragma once

#include <openvino/core/model.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <ze_npu/ze_npu.h>

namespace softnpu {

struct Argument {
  ze_graph_argument_type_t type;
  std::string name;           ///< of the Parameter or Result
  std::string producer_name;  ///< of the node that feeds a Result; a Parameter's own
  std::vector<std::string> tensor_names;
  ov::element::Type element_type;
  ov::Shape shape;            ///< with the bound of a varying dimension
  bool bounded = false;       ///< only the inference knows how many rows the output has
  std::vector<bool> varying;  ///< of an argument with a shape argument: the dimensions that vary
  std::optional<size_t> shape_index;  ///< index of the shape argument
  bool holds_shape = false;     ///< the sizes of another argument at run time, innermost first
  bool passed_through = false;  ///< an output that is an input, unchanged
  bool takes_strides = false;
  size_t size_bytes = 0;
};

/// Lists inputs first, then outputs. If inputs vary within bounds, each varying argument has one
/// more, "vpux_ie_shape_<name>", behind the inputs or the outputs. Throws INVALID_ARGUMENT, with
/// the name, for an argument that the NPU's interface cannot carry, and for a dimension without a
/// bound.
std::vector<Argument> describe_arguments(const ov::Model& model);

/// `names`, separated by commas, are those of arguments, of their tensors or of results' producers.
/// Ignores names that no argument has. Throws INVALID_ARGUMENT for an argument that cannot have
/// strides.
void enable_strides(std::vector<Argument>& arguments, std::string_view names);

void fill(const Argument& argument, ze_graph_argument_properties_t& properties);
void fill(const Argument& argument, ze_graph_argument_properties_2_t& properties);
void fill(const Argument& argument, ze_graph_argument_properties_3_t& properties);
void fill(const Argument& argument, ze_graph_argument_metadata_t& metadata);
void fill(const Argument& argument, ze_graph_argument_property_strides_t& properties);

}  // namespace softnpu
