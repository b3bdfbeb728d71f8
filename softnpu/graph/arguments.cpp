#include "arguments.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <openvino/op/parameter.hpp>

#include "base/failure.hpp"

namespace softnpu {
namespace {

struct TypeNumbers {
  ov::element::Type_t type;
  ze_graph_argument_precision_t precision;
  ze_graph_metadata_type metadata;
};

using ov::element::Type_t;

constexpr std::array<TypeNumbers, 17> kTypes = {{
    {Type_t::f32, ZE_GRAPH_ARGUMENT_PRECISION_FP32, ZE_GRAPH_METADATA_TYPE_F32},
    {Type_t::f16, ZE_GRAPH_ARGUMENT_PRECISION_FP16, ZE_GRAPH_METADATA_TYPE_F16},
    {Type_t::bf16, ZE_GRAPH_ARGUMENT_PRECISION_BF16, ZE_GRAPH_METADATA_TYPE_BF16},
    {Type_t::f64, ZE_GRAPH_ARGUMENT_PRECISION_FP64, ZE_GRAPH_METADATA_TYPE_F64},
    {Type_t::u8, ZE_GRAPH_ARGUMENT_PRECISION_UINT8, ZE_GRAPH_METADATA_TYPE_U8},
    {Type_t::i8, ZE_GRAPH_ARGUMENT_PRECISION_INT8, ZE_GRAPH_METADATA_TYPE_I8},
    {Type_t::u16, ZE_GRAPH_ARGUMENT_PRECISION_UINT16, ZE_GRAPH_METADATA_TYPE_U16},
    {Type_t::i16, ZE_GRAPH_ARGUMENT_PRECISION_INT16, ZE_GRAPH_METADATA_TYPE_I16},
    {Type_t::u32, ZE_GRAPH_ARGUMENT_PRECISION_UINT32, ZE_GRAPH_METADATA_TYPE_U32},
    {Type_t::i32, ZE_GRAPH_ARGUMENT_PRECISION_INT32, ZE_GRAPH_METADATA_TYPE_I32},
    {Type_t::u64, ZE_GRAPH_ARGUMENT_PRECISION_UINT64, ZE_GRAPH_METADATA_TYPE_U64},
    {Type_t::i64, ZE_GRAPH_ARGUMENT_PRECISION_INT64, ZE_GRAPH_METADATA_TYPE_I64},
    {Type_t::boolean, ZE_GRAPH_ARGUMENT_PRECISION_BOOLEAN, ZE_GRAPH_METADATA_TYPE_BOOLEAN},
    {Type_t::u1, ZE_GRAPH_ARGUMENT_PRECISION_BIN, ZE_GRAPH_METADATA_TYPE_U1},
    {Type_t::u4, ZE_GRAPH_ARGUMENT_PRECISION_UINT4, ZE_GRAPH_METADATA_TYPE_U4},
    {Type_t::i4, ZE_GRAPH_ARGUMENT_PRECISION_INT4, ZE_GRAPH_METADATA_TYPE_I4},
    {Type_t::f8e4m3, ZE_GRAPH_ARGUMENT_PRECISION_FP8_E4M3, ZE_GRAPH_METADATA_TYPE_UNDEFINED},
}};

// Indexed by rank: the interface tells nothing about the meaning of the dimensions.
constexpr std::array kLayouts = {ZE_GRAPH_ARGUMENT_LAYOUT_ANY,  ZE_GRAPH_ARGUMENT_LAYOUT_C,
                                 ZE_GRAPH_ARGUMENT_LAYOUT_NC,   ZE_GRAPH_ARGUMENT_LAYOUT_CHW,
                                 ZE_GRAPH_ARGUMENT_LAYOUT_NCHW, ZE_GRAPH_ARGUMENT_LAYOUT_NCDHW};

const TypeNumbers* numbers_of(ov::element::Type type) {
  const auto found = std::find_if(kTypes.begin(), kTypes.end(),
                                  [type](const TypeNumbers& row) { return row.type == type; });
  return found == kTypes.end() ? nullptr : &*found;
}

[[noreturn]] void refuse(const Argument& argument, const std::string& reason) {
  const char* const kind = argument.type == ZE_GRAPH_ARGUMENT_TYPE_INPUT ? "input" : "output";
  throw Failure(ZE_RESULT_ERROR_INVALID_ARGUMENT,
                std::string(kind) + " \"" + argument.name + "\" " + reason);
}

// True if the inference decides only the number of the output's rows, up to a bound: its memory
// then begins with the rows that there are.
bool only_rows_vary(const ov::PartialShape& shape) {
  const auto varying = std::find_if(shape.begin(), shape.end(), [](const ov::Dimension& dimension) {
    return dimension.is_dynamic();
  });
  const bool bounded = varying->get_max_length() >= 0;
  const bool outermost = std::all_of(shape.begin(), varying,
                                     [](const ov::Dimension& dimension) { return dimension == 1; });
  const bool rest_fixed =
      std::all_of(std::next(varying), shape.end(),
                  [](const ov::Dimension& dimension) { return dimension.is_static(); });
  return bounded && outermost && rest_fixed;
}

// Like Intel's compiler: an argument without a bound on its memory is the client's mistake.
void check_bounds(const Argument& argument, const ov::PartialShape& shape) {
  const bool bounded = std::all_of(shape.begin(), shape.end(), [](const ov::Dimension& dimension) {
    return dimension.get_max_length() >= 0;
  });
  if (bounded) return;
  throw Failure(ZE_RESULT_ERROR_INVALID_ARGUMENT,
                "compiler: an upper bound is missing: \"" + argument.name + "\" has the shape " +
                    shape.to_string() + "; reshape the model first");
}

// If inputs vary, an output's rows may be anywhere in it, and its size is told beside it; else it
// must begin with the rows that there are.
void take_dynamic_shape(Argument& argument, const ov::PartialShape& shape, bool inputs_vary) {
  if (inputs_vary) {
    check_bounds(argument, shape);
    for (const ov::Dimension& dimension : shape) {
      argument.varying.push_back(dimension.is_dynamic());
    }
    return;
  }
  if (!only_rows_vary(shape)) {
    refuse(argument, "has the shape " + shape.to_string() +
                         ": the NPU needs fixed dimensions, reshape the model first");
  }
  argument.bounded = true;
}

void take_shape(Argument& argument, const ov::PartialShape& shape, bool inputs_vary) {
  if (shape.rank().is_dynamic()) {
    refuse(argument, "has no fixed number of dimensions");
  }
  if (shape.is_dynamic()) {
    take_dynamic_shape(argument, shape, inputs_vary);
  }
  argument.shape = shape.get_max_shape();
  if (argument.shape.size() > ZE_MAX_GRAPH_ARGUMENT_DIMENSIONS_SIZE) {
    refuse(argument, "has " + std::to_string(argument.shape.size()) + " dimensions, at most " +
                         std::to_string(ZE_MAX_GRAPH_ARGUMENT_DIMENSIONS_SIZE) + " are possible");
  }
  const bool fits = std::all_of(argument.shape.begin(), argument.shape.end(),
                                [](size_t size) { return size != 0 && size <= UINT32_MAX; });
  if (!fits) {
    refuse(argument, "has the shape " + shape.to_string());
  }
}

Argument describe(const ov::Output<const ov::Node>& port, ze_graph_argument_type_t type,
                  const std::string& name, const std::string& producer, bool inputs_vary) {
  Argument argument{type, name, producer, {}, port.get_element_type(), {}};
  argument.tensor_names.assign(port.get_names().begin(), port.get_names().end());
  std::sort(argument.tensor_names.begin(), argument.tensor_names.end());
  if (numbers_of(argument.element_type) == nullptr) {
    refuse(argument, "has the element type " + argument.element_type.to_string() +
                         ", which the NPU does not take");
  }
  take_shape(argument, port.get_partial_shape(), inputs_vary);
  const size_t bits = ov::shape_size(argument.shape) * argument.element_type.bitwidth();
  argument.size_bytes = (bits + 7) / 8;
  return argument;
}

// Adds a shape argument for each varying argument from `first` on.
void add_shapes(std::vector<Argument>& arguments, size_t first) {
  const size_t end = arguments.size();
  for (size_t i = first; i < end; ++i) {
    if (arguments[i].varying.empty()) continue;
    arguments[i].shape_index = arguments.size();
    const std::string name = "vpux_ie_shape_" + arguments[i].name;
    const size_t rank = arguments[i].shape.size();
    Argument shape{arguments[i].type, name, name, {}, ov::element::i32, {rank}};
    shape.holds_shape = true;
    shape.size_bytes = rank * sizeof(int32_t);
    arguments.push_back(std::move(shape));
  }
}

std::string producer_of(const ov::Output<const ov::Node>& result) {
  const auto source = result.get_node()->input_value(0);
  const std::string& name = source.get_node()->get_friendly_name();
  const bool one_of_several = source.get_node()->get_output_size() > 1;
  return one_of_several ? name + "." + std::to_string(source.get_index()) : name;
}

// Copies at most `kSize` - 1 characters, and fills the rest with zeros.
template <size_t kSize>
void put_text(const std::string& text, char (&field)[kSize]) {
  std::memset(field, 0, kSize);
  text.copy(field, kSize - 1);
}

template <size_t kCount, size_t kSize>
uint32_t put_names(const std::vector<std::string>& names, char (&fields)[kCount][kSize]) {
  const size_t count = std::min(names.size(), kCount);
  for (size_t i = 0; i < count; ++i) put_text(names[i], fields[i]);
  return static_cast<uint32_t>(count);
}

// Fills the fields that all three versions of the properties have.
template <class Properties>
void fill_common(const Argument& argument, Properties& properties) {
  put_text(argument.name, properties.name);
  properties.type = argument.type;
  std::fill(std::begin(properties.dims), std::end(properties.dims), 1u);
  std::transform(argument.shape.begin(), argument.shape.end(), properties.dims,
                 [](size_t size) { return static_cast<uint32_t>(size); });
  properties.networkPrecision = numbers_of(argument.element_type)->precision;
  properties.devicePrecision = properties.networkPrecision;
  properties.networkLayout = kLayouts[argument.shape.size()];
  properties.deviceLayout = properties.networkLayout;
}

template <class Properties>
void fill_quantisation(const Argument& argument, Properties& properties) {
  // Meaningless numbers, the same as Intel's driver's.
  properties.quantReverseScale = argument.type == ZE_GRAPH_ARGUMENT_TYPE_INPUT ? 1.0f : 0.0f;
  properties.quantZeroPoint = 0;
}

bool is_called(const Argument& argument, const std::string& name) {
  const auto& tensors = argument.tensor_names;
  return argument.name == name || argument.producer_name == name ||
         std::find(tensors.begin(), tensors.end(), name) != tensors.end();
}

}  // namespace

std::vector<Argument> describe_arguments(const ov::Model& model) {
  const auto inputs = model.inputs();
  const bool inputs_vary = std::any_of(inputs.begin(), inputs.end(), [](const auto& input) {
    return input.get_partial_shape().is_dynamic();
  });
  std::vector<Argument> arguments;
  for (const auto& input : inputs) {
    const std::string& name = input.get_node()->get_friendly_name();
    arguments.push_back(describe(input, ZE_GRAPH_ARGUMENT_TYPE_INPUT, name, name, inputs_vary));
  }
  add_shapes(arguments, 0);
  const size_t first_output = arguments.size();
  for (const auto& output : model.outputs()) {
    arguments.push_back(describe(output, ZE_GRAPH_ARGUMENT_TYPE_OUTPUT,
                                 output.get_node()->get_friendly_name(), producer_of(output),
                                 inputs_vary));
    arguments.back().passed_through =
        ov::is_type<ov::op::v0::Parameter>(output.get_node()->get_input_node_ptr(0));
  }
  add_shapes(arguments, first_output);
  return arguments;
}

void enable_strides(std::vector<Argument>& arguments, std::string_view names) {
  while (!names.empty()) {
    const size_t comma = std::min(names.find(','), names.size());
    const std::string name(names.substr(0, comma));
    names.remove_prefix(std::min(comma + 1, names.size()));
    if (name.empty()) continue;
    const auto found =
        std::find_if(arguments.begin(), arguments.end(),
                     [&name](const Argument& argument) { return is_called(argument, name); });
    if (found == arguments.end()) continue;  // ignored, as in Intel's compiler
    if (found->bounded || !found->varying.empty() || found->element_type.bitwidth() < 8) {
      refuse(*found, "cannot have strides: its size varies, or it has less than a byte an element");
    }
    found->takes_strides = true;
  }
}

void fill(const Argument& argument, ze_graph_argument_properties_t& properties) {
  fill_common(argument, properties);
}

void fill(const Argument& argument, ze_graph_argument_properties_2_t& properties) {
  fill_common(argument, properties);
  fill_quantisation(argument, properties);
}

void fill(const Argument& argument, ze_graph_argument_properties_3_t& properties) {
  fill_common(argument, properties);
  fill_quantisation(argument, properties);
  properties.dims_count = static_cast<uint32_t>(argument.shape.size());
  put_text(argument.name, properties.debug_friendly_name);
  properties.associated_tensor_names_count =
      put_names(argument.tensor_names, properties.associated_tensor_names);
}

void fill(const Argument& argument, ze_graph_argument_metadata_t& metadata) {
  metadata.type = argument.type;
  put_text(argument.name, metadata.friendly_name);
  metadata.data_type = numbers_of(argument.element_type)->metadata;
  std::fill(std::begin(metadata.shape), std::end(metadata.shape), uint64_t{0});
  std::copy(argument.shape.begin(), argument.shape.end(), metadata.shape);
  for (size_t i = 0; i < argument.varying.size(); ++i) {
    if (argument.varying[i]) {
      metadata.shape[i] = UINT64_MAX;
    }
  }
  metadata.shape_size = static_cast<uint32_t>(argument.shape.size());
  metadata.tensor_names_count = put_names(argument.tensor_names, metadata.tensor_names);
  put_text(argument.producer_name, metadata.input_name);
}

void fill(const Argument& argument, ze_graph_argument_property_strides_t& properties) {
  properties.supportsDynamicStrides = argument.takes_strides;
}

}  // namespace softnpu
