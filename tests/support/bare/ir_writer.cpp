#include "support/bare/ir_writer.hpp"

#include <cctype>
#include <concepts>
#include <cstdint>
#include <fstream>
#include <stdexcept>

namespace npu::test {
namespace {

std::string attribute(const std::string& name, const std::string& value) {
  return " " + name + "=\"" + value + "\"";
}

std::string attribute(const std::string& name, std::integral auto value) {
  return attribute(name, std::to_string(value));
}

std::string list(const IrWriter::Shape& shape) {
  std::string text;
  for (const int dim : shape) {
    text += (text.empty() ? "" : ",") + (dim < 0 ? std::string("?") : std::to_string(dim));
  }
  return text;
}

void write_file(const std::filesystem::path& path, const std::string& text) {
  std::ofstream file(path, std::ios::binary);
  if (!file.write(text.data(), static_cast<std::streamsize>(text.size())).flush()) {
    throw std::runtime_error("cannot write " + path.string());
  }
}

}  // namespace

std::string precision_of(const std::string& type) {
  if (type == "f16" || type == "f32" || type == "f64") return "FP" + type.substr(1);
  std::string upper;
  for (const unsigned char c : type) upper += static_cast<char>(std::toupper(c));
  return upper;
}

std::string dims(const std::vector<int>& shape) {
  std::string text;
  for (const int dim : shape) text += "<dim>" + std::to_string(dim) + "</dim>";
  return text;
}

std::string edge(int from_layer, int from_port, int to_layer, int to_port) {
  return "<edge from-layer=\"" + std::to_string(from_layer) + "\" from-port=\"" +
         std::to_string(from_port) + "\" to-layer=\"" + std::to_string(to_layer) + "\" to-port=\"" +
         std::to_string(to_port) + "\" />\n";
}

std::string net(const std::string& layers, const std::string& edges, const std::string& rt_info,
                const std::string& version, const std::string& name) {
  return "<?xml version=\"1.0\"?>\n<net" + attribute("name", name) + attribute("version", version) +
         ">\n<layers>\n" + layers + "</layers>\n<edges>\n" + edges + "</edges>\n" +
         (rt_info.empty() ? "" : "<rt_info>" + rt_info + "</rt_info>\n") + "</net>\n";
}

std::string replaced(std::string text, const std::string& from, const std::string& to) {
  const auto at = text.find(from);
  if (at == std::string::npos) throw std::invalid_argument("nothing to replace: " + from);
  return text.replace(at, from.size(), to);
}

IrWriter::Value IrWriter::layer(const std::string& type, const std::vector<Value>& inputs,
                                IrOptions options) {
  const int id = next_++;
  Value output = inputs.empty() ? Value{} : inputs[0];
  output.layer = id;
  output.port = static_cast<int>(inputs.size());
  output.type = options.type.empty() ? output.type : options.type;
  output.shape = options.shape.value_or(output.shape);
  output.name = options.name.empty() ? "l" + std::to_string(id) : options.name;
  layers_ += "<layer" + attribute("id", id) + attribute("name", output.name) +
             attribute("type", type) + attribute("version", options.opset) + ">" +
             (options.data.empty() ? "" : "<data " + options.data + " />") + options.inside +
             (inputs.empty() ? "" : "<input>");
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    layers_ += "<port" + attribute("id", i) + attribute("precision", precision_of(inputs[i].type)) +
               ">" + dims(inputs[i].shape) + "</port>";
    edges_ += edge(inputs[i].layer, inputs[i].port, id, static_cast<int>(i));
  }
  layers_ += inputs.empty() ? "" : "</input>";
  const std::string names = options.tensor_names.value_or(options.name);
  for (int i = 0; i < options.outputs; ++i) {
    layers_ += (i == 0 ? "<output><port" : "<port") + attribute("id", output.port + i) +
               attribute("precision", precision_of(output.type)) +
               (names.empty() ? "" : attribute("names", names)) + ">" + dims(output.shape) +
               options.inside_port + "</port>";
  }
  layers_ += options.outputs > 0 ? "</output></layer>\n" : "</layer>\n";
  return output;
}

IrWriter::Value IrWriter::parameter(const std::string& name, const std::string& type,
                                    const Shape& shape, const std::string& layout,
                                    const std::string& tensor_names) {
  IrOptions options{.name = name, .type = type, .shape = shape};
  options.data = "shape=\"" + list(shape) + "\"" + attribute("element_type", type);
  if (!tensor_names.empty()) {
    options.tensor_names = tensor_names;
  }
  if (!layout.empty()) {
    options.inside_port = "<rt_info><attribute name=\"layout\" version=\"0\"" +
                          attribute("layout", layout) + " /></rt_info>";
  }
  inputs_.push_back(layer("Parameter", {}, options));
  return inputs_.back();
}

IrWriter::Value IrWriter::constant(const std::string& name, const std::string& type,
                                   const Shape& shape, std::string_view bytes) {
  const std::size_t offset = weights_.size();
  weights_ += bytes;
  return constant_at(name, type, shape, offset, bytes.size());
}

IrWriter::Value IrWriter::constant(const std::string& name, const std::vector<float>& values,
                                   const Shape& shape) {
  return constant(name, "f32", shape,
                  {reinterpret_cast<const char*>(values.data()), values.size() * sizeof(float)});
}

IrWriter::Value IrWriter::constant_at(const std::string& name, const std::string& type,
                                      const Shape& shape, std::size_t offset, std::size_t size,
                                      const std::string& inside) {
  return layer("Const", {},
               {.name = name,
                .data = "element_type=\"" + type + "\"" + attribute("shape", list(shape)) +
                        attribute("offset", offset) + attribute("size", size),
                .type = type,
                .shape = shape,
                .tensor_names = "",
                .inside = inside});
}

IrWriter::Value IrWriter::constant_in_place(const std::string& name, const std::string& type,
                                            const Shape& shape, const void* address,
                                            std::size_t size) {
  return constant_at(name, type, shape, 0, 0,
                     "<rt_info><attribute name=\"WeightsPointerAttribute\" version=\"0\"" +
                         attribute("mp", reinterpret_cast<std::uintptr_t>(address)) +
                         attribute("ms", size) + " /></rt_info>");
}

IrWriter::Value IrWriter::binary(const std::string& type, const Value& a, const Value& b,
                                 const std::string& name) {
  return layer(type, {a, b}, {.name = name, .data = "auto_broadcast=\"numpy\""});
}

IrWriter::Value IrWriter::read_value(const std::string& id, const std::string& type,
                                     const Shape& shape, const std::vector<Value>& initial) {
  return layer("ReadValue", initial,
               {.name = "read_" + id,
                .data = "variable_id=\"" + id + "\"" + attribute("variable_type", type) +
                        attribute("variable_shape", list(shape)),
                .type = type,
                .shape = shape,
                .tensor_names = "",
                .opset = "opset6"});
}

void IrWriter::assign(const std::string& id, const Value& value) {
  layer("Assign", {value},
        {.name = "assign_" + id,
         .data = "variable_id=\"" + id + "\"" + attribute("variable_type", value.type) +
                 attribute("variable_shape", list(value.shape)),
         .tensor_names = "",
         .opset = "opset6"});
}

void IrWriter::result(const Value& value, const std::string& name) {
  layer("Result", {value}, {.name = name, .outputs = 0});
  outputs_.push_back(value);
}

std::filesystem::path IrWriter::write(const std::filesystem::path& folder,
                                      const std::string& name) const {
  if (!weights_.empty()) {
    write_file(folder / (name + ".bin"), weights_);
  }
  write_file(folder / (name + ".xml"), xml());
  return folder / (name + ".xml");
}

}  // namespace npu::test
