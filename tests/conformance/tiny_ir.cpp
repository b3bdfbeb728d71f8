#include "tiny_ir.hpp"

#include <algorithm>
#include <cctype>
#include <cstring>

namespace conformance {
namespace {

std::string upper_precision(const std::string& type) {
  if (type[0] == 'f') return "FP" + type.substr(1);
  std::string upper = type;
  std::transform(upper.begin(), upper.end(), upper.begin(),
                 [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
  return upper;
}

std::string dims_text(const std::vector<int>& shape) {
  std::string text;
  for (int dim : shape) text += (text.empty() ? "" : ",") + std::to_string(dim);
  return text;
}

std::string port_xml(int id, const TinyIr::Value& value, const std::string& tensor_name) {
  std::string text =
      "<port id=\"" + std::to_string(id) + "\" precision=\"" + upper_precision(value.type) + "\"";
  if (!tensor_name.empty()) {
    text += " names=\"" + tensor_name + "\"";
  }
  text += ">";
  for (int dim : value.shape) text += "<dim>" + std::to_string(dim) + "</dim>";
  return text + "</port>";
}

const char* layout_of_rank(size_t rank) {
  constexpr const char* kLayouts[] = {"**SCALAR**", "C", "NC", "CHW", "NCHW", "NCDHW"};
  return kLayouts[rank];
}

std::string option(const std::string& name, const std::vector<TinyIr::Value>& ports, bool layout) {
  std::string text = "--" + name + "=\"";
  for (size_t i = 0; i < ports.size(); ++i) {
    text += (i == 0 ? "" : " ") + std::to_string(i) + ":";
    text += layout ? layout_of_rank(ports[i].shape.size()) : upper_precision(ports[i].type);
  }
  return text + "\"";
}

template <class T>
void put(std::vector<uint8_t>& out, T value) {
  const auto* bytes = reinterpret_cast<const uint8_t*>(&value);
  out.insert(out.end(), bytes, bytes + sizeof value);
}

}  // namespace

TinyIr::Value TinyIr::layer(const std::string& name, const std::string& type,
                            const std::vector<Value>& inputs, const std::string& attributes,
                            Value output) {
  output.layer = next_layer_++;
  output.port = static_cast<int>(inputs.size());
  const std::string id = std::to_string(output.layer);
  layers_ +=
      "<layer id=\"" + id + "\" name=\"" + name + "\" type=\"" + type + "\" version=\"opset1\">";
  if (!attributes.empty()) {
    layers_ += "<data " + attributes + "/>";
  }
  if (!inputs.empty()) {
    layers_ += "<input>";
  }
  for (size_t i = 0; i < inputs.size(); ++i) {
    layers_ += port_xml(static_cast<int>(i), inputs[i], "");
    edges_ += "<edge from-layer=\"" + std::to_string(inputs[i].layer) + "\" from-port=\"" +
              std::to_string(inputs[i].port) + "\" to-layer=\"" + id + "\" to-port=\"" +
              std::to_string(i) + "\"/>";
  }
  if (!inputs.empty()) {
    layers_ += "</input>";
  }
  if (type != "Result") {
    layers_ += "<output>" + port_xml(output.port, output, name) + "</output>";
  }
  layers_ += "</layer>";
  return output;
}

TinyIr::Value TinyIr::parameter(const std::string& name, const std::string& type,
                                std::vector<int> shape) {
  const std::string data = "shape=\"" + dims_text(shape) + "\" element_type=\"" + type + "\"";
  Value value = layer(name, "Parameter", {}, data, {0, 0, type, std::move(shape)});
  inputs_.push_back(value);
  return value;
}

TinyIr::Value TinyIr::constant(const std::string& name, std::span<const float> values,
                               std::vector<int> shape) {
  const std::string data = "element_type=\"f32\" shape=\"" + dims_text(shape) + "\" offset=\"" +
                           std::to_string(weights_.size()) + "\" size=\"" +
                           std::to_string(values.size_bytes()) + "\"";
  const auto* bytes = reinterpret_cast<const uint8_t*>(values.data());
  weights_.insert(weights_.end(), bytes, bytes + values.size_bytes());
  return layer(name, "Const", {}, data, {0, 0, "f32", std::move(shape)});
}

void TinyIr::result(const std::string& name, const Value& value) {
  layer(name, "Result", {value}, "", value);
  outputs_.push_back(value);
}

std::string TinyIr::xml() const {
  return "<?xml version=\"1.0\"?><net name=\"" + name_ + "\" version=\"11\"><layers>" + layers_ +
         "</layers><edges>" + edges_ +
         "</edges><rt_info><is_new_api value=\"YES\"/>"
         "<use_indices_for_io_metadata value=\"YES\"/></rt_info></net>";
}

std::string TinyIr::build_flags() const {
  return option("inputs_precisions", inputs_, false) + " " +
         option("inputs_layouts", inputs_, true) + " " +
         option("outputs_precisions", outputs_, false) + " " +
         option("outputs_layouts", outputs_, true);
}

std::vector<uint8_t> ngraph_lite_buffer(ze_graph_compiler_version_info_t compiler,
                                        const std::string& xml, std::span<const uint8_t> weights) {
  std::vector<uint8_t> out;
  put(out, compiler.major);
  put(out, compiler.minor);
  put(out, uint32_t{2});
  put(out, uint64_t{xml.size()});
  out.insert(out.end(), xml.begin(), xml.end());
  put(out, uint64_t{weights.size()});
  out.insert(out.end(), weights.begin(), weights.end());
  return out;
}

TinyIr add_relu_ir() {
  TinyIr ir("add_relu");
  const auto x = ir.parameter("x", "f32", {1, 3, 4, 4});
  const auto bias = ir.constant("bias", kBias, {1, 3, 1, 1});
  const auto sum = ir.layer("sum", "Add", {x, bias}, "auto_broadcast=\"numpy\"", x);
  const auto y = ir.layer("y", "ReLU", {sum}, "", x);
  ir.result("y_result", y);
  return ir;
}

std::vector<float> add_relu_expected(std::span<const float> x) {
  std::vector<float> y(x.size());
  for (size_t i = 0; i < x.size(); ++i) y[i] = std::max(0.0f, x[i] + kBias[i / 16 % 3]);
  return y;
}

TinyIr two_by_two_ir() {
  TinyIr ir("two_by_two");
  const auto a = ir.parameter("a", "u8", {1, 8});
  const auto b = ir.parameter("b", "f32", {1, 8});
  const auto a32 = ir.layer("a32", "Convert", {a}, "destination_type=\"f32\"", b);
  const auto sum = ir.layer("sum", "Add", {a32, b}, "auto_broadcast=\"numpy\"", b);
  const auto relu = ir.layer("relu", "ReLU", {b}, "", b);
  ir.result("sum_result", sum);
  ir.result("relu_result", relu);
  return ir;
}

}  // namespace conformance
