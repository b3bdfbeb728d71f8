#include "ir_files.hpp"

#include <algorithm>
#include <cctype>

namespace npu::test {
namespace {

std::string precision_of(const std::string& type) {
  if (type == "f32") return "FP32";
  if (type == "f16") return "FP16";
  auto upper = type;
  std::transform(upper.begin(), upper.end(), upper.begin(),
                 [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
  return upper;
}

std::string list(const std::vector<int>& shape) {
  std::string text;
  for (const int dim : shape) {
    text += (text.empty() ? "" : ",") + (dim < 0 ? std::string("?") : std::to_string(dim));
  }
  return text;
}

}  // namespace

std::string dims(const std::vector<int>& shape) {
  std::string text;
  for (const int dim : shape) text += "<dim>" + std::to_string(dim) + "</dim>";
  return text;
}

std::string parameter_layer(int id, const std::string& name, const std::string& type,
                            const std::vector<int>& shape, const std::string& layout) {
  std::string rt_info;
  if (!layout.empty()) {
    rt_info =
        R"(<rt_info><attribute name="layout" version="0" layout=")" + layout + R"(" /></rt_info>)";
  }
  return "<layer id=\"" + std::to_string(id) + "\" name=\"" + name +
         "\" type=\"Parameter\" version=\"opset1\"><data shape=\"" + list(shape) +
         "\" element_type=\"" + type + "\" /><output><port id=\"0\" precision=\"" +
         precision_of(type) + "\" names=\"" + (name == "picture" ? "image" : name) + "\">" +
         dims(shape) + rt_info + "</port></output></layer>\n";
}

std::string result_layer(int id, const std::string& name, const std::vector<int>& shape) {
  return "<layer id=\"" + std::to_string(id) + "\" name=\"" + name +
         "\" type=\"Result\" version=\"opset1\"><input><port id=\"0\">" + dims(shape) +
         "</port></input></layer>\n";
}

std::string edge(int from_layer, int from_port, int to_layer, int to_port) {
  return "<edge from-layer=\"" + std::to_string(from_layer) + "\" from-port=\"" +
         std::to_string(from_port) + "\" to-layer=\"" + std::to_string(to_layer) + "\" to-port=\"" +
         std::to_string(to_port) + "\" />\n";
}

std::string net(const std::string& layers, const std::string& edges, const std::string& rt_info,
                const std::string& version) {
  return "<?xml version=\"1.0\"?>\n<net name=\"tested\" version=\"" + version + "\">\n<layers>\n" +
         layers + "</layers>\n<edges>\n" + edges + "</edges>\n" +
         (rt_info.empty() ? "" : "<rt_info>" + rt_info + "</rt_info>\n") + "</net>\n";
}

std::string identity_ir(const std::string& type, const std::vector<int>& shape,
                        const std::string& layout) {
  return net(parameter_layer(0, "picture", type, shape, layout) + result_layer(1, "out", shape),
             edge(0, 0, 1, 0));
}

std::string multiply_ir(int offset, int size) {
  const std::vector<int> shape{1, 2};
  const auto constant =
      "<layer id=\"1\" name=\"two\" type=\"Const\" version=\"opset1\">"
      "<data element_type=\"f32\" shape=\"\" offset=\"" +
      std::to_string(offset) + "\" size=\"" + std::to_string(size) +
      "\" /><output><port id=\"0\" precision=\"FP32\" /></output></layer>\n";
  const auto multiply =
      "<layer id=\"2\" name=\"double\" type=\"Multiply\" version=\"opset1\">"
      "<data auto_broadcast=\"numpy\" /><input><port id=\"0\">" +
      dims(shape) +
      "</port><port id=\"1\" /></input><output><port id=\"2\" precision=\"FP32\" "
      "names=\"twice\">" +
      dims(shape) + "</port></output></layer>\n";
  return net(parameter_layer(0, "numbers", "f32", shape) + constant + multiply +
                 result_layer(3, "out", shape),
             edge(0, 0, 2, 0) + edge(1, 0, 2, 1) + edge(2, 2, 3, 0));
}

}  // namespace npu::test
