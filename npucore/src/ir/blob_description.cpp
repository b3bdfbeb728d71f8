#include "blob_description.hpp"

#include <array>
#include <charconv>
#include <cmath>
#include <concepts>
#include <new>
#include <pugixml.hpp>
#include <stdexcept>

#include <npucore/error.hpp>

#include "base/enum_names.hpp"
#include "base/text.hpp"
#include "ir/graph/layer.hpp"
#include "ir/graph/limits.hpp"
#include "ir/graph/xml.hpp"

namespace npu::ir {
namespace {

constexpr std::uint64_t kFormatVersion = 1;

[[noreturn]] void fail(pugi::xml_node node, const char* attribute) {
  throw std::invalid_argument(base::text("<", node.name(), "> has no usable ", attribute, ": ",
                                         base::quoted(node.attribute(attribute).value())));
}

std::string text_of(pugi::xml_node node, const char* name) {
  if (!node.attribute(name)) {
    fail(node, name);
  }
  return node.attribute(name).value();
}

std::uint32_t small_number(pugi::xml_node node, const char* name) {
  const auto value = parse_unsigned(node.attribute(name).value());
  if (!value || *value > UINT32_MAX) {
    fail(node, name);
  }
  return static_cast<std::uint32_t>(*value);
}

template <std::floating_point T>
T real(pugi::xml_node node, const char* name) {
  // strtod would follow the locale of the surrounding program.
  const std::string_view text = node.attribute(name).value();
  T value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size() || !std::isfinite(value)) {
    fail(node, name);
  }
  return value;
}

void write_port(pugi::xml_node parent, const char* kind, const Port& port) {
  auto node = add(parent, kind);
  set(node, "name", port.name);
  set(node, "type", std::string(to_string(port.type)));
  set(node, "shape", base::join(port.shape, ","));
  for (const auto& name : port.tensor_names) set(add(node, "tensor"), "name", name);
}

Port read_port(pugi::xml_node node) {
  Port port;
  port.name = text_of(node, "name");
  port.type = base::element_type_from_string(text_of(node, "type"));
  const auto shape = parse_shape(text_of(node, "shape"));
  if (!shape) {
    fail(node, "shape");
  }
  if (shape->size() > Limits::kRank) {
    throw std::invalid_argument(
        base::text("a tensor of it has more than ", Limits::kRank, " dimensions"));
  }
  port.shape = *shape;
  for (auto tensor : node.children("tensor")) port.tensor_names.push_back(text_of(tensor, "name"));
  return port;
}

void write_state(pugi::xml_node node, const StateValue& state) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  constexpr unsigned kHalf = 4, kMask = 15;
  set(node, "id", state.id);
  std::string digits;
  for (const auto byte : state.initial) {
    digits += kDigits[std::to_integer<unsigned>(byte) >> kHalf];
    digits += kDigits[std::to_integer<unsigned>(byte) & kMask];
  }
  if (!digits.empty()) {
    set(node, "initial", digits);
  }
}

StateValue read_state(pugi::xml_node node) {
  constexpr int kHexadecimal = 16;
  StateValue state{text_of(node, "id"), {}};
  const std::string_view digits = node.attribute("initial").value();
  if (digits.size() % 2 != 0) {
    fail(node, "initial");
  }
  for (std::size_t at = 0; at < digits.size(); at += 2) {
    unsigned char byte = 0;
    const auto* end = digits.data() + at + 2;
    const auto read = std::from_chars(digits.data() + at, end, byte, kHexadecimal);
    if (read.ec != std::errc{} || read.ptr != end) {
      fail(node, "initial");
    }
    state.initial.push_back(static_cast<std::byte>(byte));
  }
  return state;
}

void write_frame(pugi::xml_node node, const FrameLayout& frame) {
  set(node, "format", std::string(to_string(frame.format)));
  set(node, "width", frame.width);
  set(node, "height", frame.height);
  set(node, "crop_left", frame.crop_left);
  set(node, "crop_top", frame.crop_top);
  set(node, "matrix", std::string(to_string(frame.matrix)));
  set(node, "range", std::string(to_string(frame.range)));
  for (const auto& plane : frame.planes) {
    auto child = add(node, "plane");
    set(child, "stride_bytes", plane.stride_bytes);
    set(child, "rows", plane.rows);
  }
}

FrameLayout read_frame(pugi::xml_node node) {
  constexpr std::size_t kMostPlanes = 4;
  FrameLayout frame;
  frame.format = pixel_format_from_string(text_of(node, "format"));
  frame.width = small_number(node, "width");
  frame.height = small_number(node, "height");
  frame.crop_left = small_number(node, "crop_left");
  frame.crop_top = small_number(node, "crop_top");
  frame.matrix = color_matrix_from_string(text_of(node, "matrix"));
  frame.range = color_range_from_string(text_of(node, "range"));
  for (auto plane : node.children("plane")) {
    if (frame.planes.size() == kMostPlanes) {
      throw std::invalid_argument(base::text("its frames have more than ", kMostPlanes, " planes"));
    }
    frame.planes.push_back({small_number(plane, "stride_bytes"), small_number(plane, "rows")});
  }
  frame.validate();
  return frame;
}

void write_preprocess(pugi::xml_node node, const Preprocess& preprocess) {
  set(node, "input", preprocess.input);
  set(node, "resize", std::string(to_string(preprocess.resize)));
  if (preprocess.crop_share != 1) {
    set(node, "crop_share", preprocess.crop_share);
  }
  set(node, "pad_value", preprocess.pad_value);
  set(node, "channels", std::string(to_string(preprocess.channels)));
  for (const auto value : preprocess.mean) set(add(node, "mean"), "value", value);
  for (const auto value : preprocess.scale) set(add(node, "scale"), "value", value);
  write_frame(add(node, "frame"), preprocess.frame);
}

Preprocess read_preprocess(pugi::xml_node node) {
  Preprocess preprocess;
  preprocess.input = text_of(node, "input");
  preprocess.resize = resize_mode_from_string(text_of(node, "resize"));
  if (node.attribute("crop_share")) {
    preprocess.crop_share = real<float>(node, "crop_share");
  }
  preprocess.pad_value = real<float>(node, "pad_value");
  preprocess.channels = channel_order_from_string(text_of(node, "channels"));
  for (auto mean : node.children("mean")) preprocess.mean.push_back(real<float>(mean, "value"));
  for (auto scale : node.children("scale")) preprocess.scale.push_back(real<float>(scale, "value"));
  preprocess.frame = read_frame(node.child("frame"));
  return preprocess;
}

void write_frame_input(pugi::xml_node node, const FrameInput& input) {
  write_preprocess(add(node, "preprocess"), input.preprocess);
  auto geometry = add(node, "geometry");
  set(geometry, "model_width", input.geometry.model_width);
  set(geometry, "model_height", input.geometry.model_height);
  set(geometry, "offset_x", input.geometry.offset_x);
  set(geometry, "offset_y", input.geometry.offset_y);
  set(geometry, "scale_x", input.geometry.scale_x);
  set(geometry, "scale_y", input.geometry.scale_y);
  for (const auto& name : input.plane_inputs) set(add(node, "plane_input"), "name", name);
}

FrameInput read_frame_input(pugi::xml_node node) {
  FrameInput input;
  input.preprocess = read_preprocess(node.child("preprocess"));
  const auto geometry = node.child("geometry");
  input.geometry.model_width = small_number(geometry, "model_width");
  input.geometry.model_height = small_number(geometry, "model_height");
  input.geometry.offset_x = real<double>(geometry, "offset_x");
  input.geometry.offset_y = real<double>(geometry, "offset_y");
  input.geometry.scale_x = real<double>(geometry, "scale_x");
  input.geometry.scale_y = real<double>(geometry, "scale_y");
  for (auto plane : node.children("plane_input")) {
    input.plane_inputs.push_back(text_of(plane, "name"));
  }
  const auto planes = input.preprocess.frame.planes.size();
  if (input.plane_inputs.size() > planes) {
    throw std::invalid_argument(base::text("its frames have ", planes, " planes for ",
                                           input.plane_inputs.size(), " inputs"));
  }
  return input;
}

std::string version_text(const Version& version) {
  return base::text(version.major, '.', version.minor, '.', version.patch);
}

Version read_version(pugi::xml_node node, const char* name) {
  const std::string words = text_of(node, name);
  std::array<std::uint32_t, 3> numbers{};
  const char* at = words.data();
  const char* const end = at + words.size();
  for (auto& number : numbers) {
    const auto [stop, error] = std::from_chars(at, end, number);
    const bool last = &number == &numbers.back();
    if (error != std::errc{} || (last ? stop != end : stop == end || *stop != '.')) {
      fail(node, name);
    }
    at = stop + 1;
  }
  return {numbers[0], numbers[1], numbers[2]};
}

void write_built_with(pugi::xml_node node, const BuiltWith& built) {
  set(node, "platform", built.platform);
  set(node, "compiler", version_text(built.compiler));
  set(node, "elf", version_text(built.elf));
  set(node, "runtime", version_text(built.runtime));
  set(node, "driver", built.driver_version);
}

BuiltWith read_built_with(pugi::xml_node node) {
  return {text_of(node, "platform"), read_version(node, "compiler"), read_version(node, "elf"),
          read_version(node, "runtime"), small_number(node, "driver")};
}

}  // namespace

std::string write_description(const BlobDescription& description, std::uint32_t compiler_version) {
  struct TextWriter : pugi::xml_writer {
    std::string text;
    void write(const void* data, std::size_t size) override {
      text.append(static_cast<const char*>(data), size);
    }
  };
  pugi::xml_document document;
  auto root = add(document, "npucore");
  set(root, "version", kFormatVersion);
  set(root, "model", description.model_name);
  set(root, "compiler", base::text(compiler_version >> 16, '.', compiler_version & 0xffff));
  if (description.built_with != BuiltWith{}) {
    write_built_with(add(root, "built_with"), description.built_with);
  }
  for (const auto& port : description.inputs) write_port(root, "input", port);
  for (const auto& port : description.outputs) write_port(root, "output", port);
  for (const auto& state : description.states) write_state(add(root, "state"), state);
  for (const auto& [name, value] : description.model_info) {
    auto node = add(root, "model_info");
    set(node, "name", name);
    set(node, "value", value);
  }
  if (description.frame_input) {
    write_frame_input(add(root, "frame_input"), *description.frame_input);
  }
  TextWriter writer;
  document.save(writer, "", pugi::format_raw | pugi::format_no_declaration, pugi::encoding_utf8);
  return std::move(writer.text);
}

BlobDescription read_description(std::string_view text) {
  pugi::xml_document document;
  const auto result = document.load_buffer(text.data(), text.size());
  if (result.status == pugi::status_out_of_memory) throw std::bad_alloc();
  if (!result) throw std::invalid_argument(result.description());
  const auto root = document.child("npucore");
  if (parse_unsigned(root.attribute("version").value()) != kFormatVersion) {
    fail(root, "version");
  }
  BlobDescription description;
  description.model_name = text_of(root, "model");
  // Files of the first release lack it.
  if (const auto built = root.child("built_with")) {
    description.built_with = read_built_with(built);
  }
  for (auto port : root.children("input")) description.inputs.push_back(read_port(port));
  for (auto port : root.children("output")) description.outputs.push_back(read_port(port));
  for (auto state : root.children("state")) description.states.push_back(read_state(state));
  for (auto node : root.children("model_info")) {
    description.model_info[text_of(node, "name")] = text_of(node, "value");
  }
  try {
    const auto frame_input = root.child("frame_input");
    if (frame_input) {
      description.frame_input = read_frame_input(frame_input);
    }
  } catch (const Error& error) {
    throw std::invalid_argument(error.what());
  }
  return description;
}

std::string describe(const BuiltWith& built) {
  std::vector<std::string> parts;
  if (!built.platform.empty()) {
    parts.push_back("platform=" + built.platform);
  }
  if (built.tiles != 0) {
    parts.push_back(base::text("tiles=", built.tiles));
  }
  if (built.compiler != Version{}) {
    parts.push_back(base::text("compiler=", built.compiler.major, '.', built.compiler.minor));
  }
  if (built.elf != Version{}) {
    parts.push_back("elf=" + version_text(built.elf));
  }
  if (built.runtime != Version{}) {
    parts.push_back("runtime=" + version_text(built.runtime));
  }
  if (built.driver_version != 0) {
    parts.push_back(base::text("driver=", built.driver_version));
  }
  return base::join(parts, " ");
}

}  // namespace npu::ir
