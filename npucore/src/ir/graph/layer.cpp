#include "layer.hpp"

#include <array>
#include <charconv>
#include <set>
#include <utility>

#include "base/enum_names.hpp"
#include "base/text.hpp"

#include "xml.hpp"

namespace npu::ir {
namespace {

constexpr std::array<std::pair<const char*, ElementType>, 6> kPrecisions{{
    {"FP64", ElementType::kF64},
    {"FP32", ElementType::kF32},
    {"FP16", ElementType::kF16},
    {"BOOL", ElementType::kBoolean},
    {"BIN", ElementType::kU1},
    {"STRING", ElementType::kString},
}};

std::vector<pugi::xml_node> ports(pugi::xml_node layer, const char* side) {
  std::vector<pugi::xml_node> found;
  for (auto port : layer.child(side).children("port")) found.push_back(port);
  return found;
}

}  // namespace

std::string_view trimmed(std::string_view text) {
  const auto first = text.find_first_not_of(" \t\r\n");
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(" \t\r\n") - first + 1);
}

std::optional<std::uint64_t> parse_unsigned(std::string_view text) {
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size() || text.empty()) return {};
  return value;
}

std::optional<double> parse_real(std::string_view text) {
  const auto digits = trimmed(text);
  double value = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  if (error != std::errc{} || end != digits.data() + digits.size()) return {};
  return value;
}

std::uint64_t layer_id(pugi::xml_node layer) {
  return parse_unsigned(layer.attribute("id").value()).value_or(0);
}

std::string layer_name(pugi::xml_node layer) {
  return layer.attribute("name").value();
}

std::string layer_type(pugi::xml_node layer) {
  return layer.attribute("type").value();
}

std::string describe_layer(pugi::xml_node layer) {
  return base::text("layer ", base::quoted(layer_name(layer)), " (", layer_type(layer), ", id ",
                    layer.attribute("id").value(), ")");
}

std::vector<pugi::xml_node> input_ports(pugi::xml_node layer) {
  return ports(layer, "input");
}

std::vector<pugi::xml_node> output_ports(pugi::xml_node layer) {
  return ports(layer, "output");
}

pugi::xml_node input_port(pugi::xml_node layer, std::size_t position) {
  auto port = layer.child("input").child("port");
  for (; port && position > 0; --position) port = port.next_sibling("port");
  return port;
}

std::vector<std::string> tensor_names(pugi::xml_node port) {
  return split_tensor_names(port.attribute("names").value());
}

std::vector<std::string> each_once(const std::vector<std::string>& names) {
  std::set<std::string_view> seen;
  std::vector<std::string> result;
  for (const auto& name : names) {
    if (seen.insert(name).second) {
      result.push_back(name);
    }
  }
  return result;
}

std::vector<std::string> split_tensor_names(std::string_view text) {
  std::vector<std::string> names;
  std::string name;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '\\' && i + 1 < text.size() && text[i + 1] == ',') {
      name += text[++i];
    } else if (text[i] == ',') {
      names.push_back(std::exchange(name, {}));
    } else {
      name += text[i];
    }
  }
  if (!name.empty()) {
    names.push_back(name);
  }
  return names;
}

std::string join_tensor_names(const std::vector<std::string>& names) {
  std::string joined;
  for (const auto& name : names) {
    if (!joined.empty()) {
      joined += ',';
    }
    for (const char character : name) {
      if (character == ',') {
        joined += '\\';
      }
      joined += character;
    }
  }
  return joined;
}

std::string layout_letters(pugi::xml_node layer) {
  std::string letters;
  for (auto holder : {layer.child("output").child("port"), layer}) {
    for (auto attribute : holder.child("rt_info").children("attribute")) {
      if (std::string_view(attribute.attribute("name").value()) != "layout") continue;
      for (const char c : std::string_view(attribute.attribute("layout").value())) {
        if ((c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z')) {
          letters += c;
        }
      }
      return letters;
    }
  }
  return letters;
}

Shape port_shape(pugi::xml_node port) {
  Shape shape;
  for (auto dim : port.children("dim")) {
    const auto value = parse_unsigned(trimmed(dim.child_value()));
    shape.push_back(value && *value <= INT64_MAX ? static_cast<std::int64_t>(*value) : -1);
  }
  return shape;
}

void set_port_shape(pugi::xml_node port, const Shape& shape) {
  for (auto dim = port.child("dim"); dim;) {
    const auto next = dim.next_sibling("dim");
    port.remove_child(dim);
    dim = next;
  }
  pugi::xml_node last;
  for (const auto dim : shape) {
    last = made(last ? port.insert_child_after("dim", last) : port.prepend_child("dim"));
    set_text(last, std::to_string(dim));
  }
}

std::optional<Shape> parse_shape(std::string_view text) {
  Shape shape;
  if (trimmed(text).empty()) return shape;
  while (true) {
    const auto comma = text.find(',');
    const auto item = trimmed(text.substr(0, comma));
    if (item == "...") return {};
    const auto value = parse_unsigned(item);
    shape.push_back(value && *value <= INT64_MAX ? static_cast<std::int64_t>(*value) : -1);
    if (comma == std::string_view::npos) return shape;
    text.remove_prefix(comma + 1);
  }
}

ElementType precision_to_type(const std::string& precision) {
  for (const auto& [name, type] : kPrecisions) {
    if (precision == name) return type;
  }
  return base::element_type_from_string(precision);
}

std::string type_to_precision(ElementType type) {
  for (const auto& [name, known] : kPrecisions) {
    if (type == known) return name;
  }
  return base::upper(to_string(type));
}

}  // namespace npu::ir
