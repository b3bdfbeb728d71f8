#include "support/tiny_ir.hpp"

#include <utility>

namespace npu::test {
namespace {

std::string dims(const std::string& height, int width) {
  return "<dim>1</dim><dim>3</dim><dim>" + height + "</dim><dim>" + std::to_string(width) +
         "</dim>";
}

std::string parameter(const std::string& height, int width) {
  const std::string shown = height == "-1" ? "?" : height;
  return R"(<layer id="0" name="image" type="Parameter" version="opset1"><data shape="1,3,)" +
         shown + "," + std::to_string(width) +
         R"(" element_type="f32"/><output><port id="0" precision="FP32" names="image">)" +
         dims(height, width) +
         R"(<rt_info><attribute name="layout" version="0" layout="[N,C,H,W]"/></rt_info>)"
         "</port></output></layer>\n";
}

std::string result(const std::string& height, int width) {
  return R"(<layer id="9" name="pixels" type="Result" version="opset1"><input><port id="0">)" +
         dims(height, width) + "</port></input></layer>\n";
}

std::string net(const std::string& layers, const std::string& edges) {
  return "<?xml version=\"1.0\"?>\n<net name=\"tiny\" version=\"11\">\n<layers>\n" + layers +
         "</layers>\n<edges>\n" + edges + "</edges>\n</net>\n";
}

constexpr const char* kDirectEdge =
    R"(<edge from-layer="0" from-port="0" to-layer="9" to-port="0"/>)";

}  // namespace

std::string pixels_ir(int height, int width) {
  const std::string rows = std::to_string(height);
  return net(parameter(rows, width) + result(rows, width), kDirectEdge);
}

std::string packed_ir(int height, int width) {
  const std::string rows = std::to_string(height);
  const std::string columns = std::to_string(width);
  const std::string ports =
      "<dim>1</dim><dim>" + rows + "</dim><dim>" + columns + "</dim><dim>3</dim>";
  return net(
      R"(<layer id="0" name="image" type="Parameter" version="opset1"><data shape="1,)" + rows +
          "," + columns +
          R"(,3" element_type="u8"/><output><port id="0" precision="U8" names="image">)" + ports +
          "</port></output></layer>\n" +
          R"(<layer id="9" name="pixels" type="Result" version="opset1"><input><port id="0">)" +
          ports + "</port></input></layer>\n",
      kDirectEdge);
}

std::string grey_ir(int height, int width) {
  std::string ir = pixels_ir(height, width);
  for (const auto& [colour, grey] :
       {std::pair<std::string, std::string>{"<dim>3</dim>", "<dim>1</dim>"},
        {"shape=\"1,3,", "shape=\"1,1,"}}) {
    for (std::size_t at = ir.find(colour); at != std::string::npos; at = ir.find(colour)) {
      ir.replace(at, colour.size(), grey);
    }
  }
  return ir;
}

std::string dynamic_ir(int width) {
  return net(parameter("-1", width) + result("-1", width), kDirectEdge);
}

std::string sized_ir(int width) {
  const std::string two = "<dim>1</dim><dim>2</dim>";
  return net(
      parameter("-1", width) + result("-1", width) +
          R"(<layer id="1" name="orig_target_sizes" type="Parameter" version="opset1">)"
          R"(<data shape="1,2" element_type="i64"/><output><port id="0" precision="I64" )"
          R"(names="orig_target_sizes">)" +
          two +
          "</port></output></layer>\n"
          R"(<layer id="2" name="sizes" type="Convert" version="opset1">)"
          R"(<data destination_type="f32"/><input><port id="0">)" +
          two + R"(</port></input><output><port id="1" precision="FP32">)" + two +
          "</port></output></layer>\n"
          R"(<layer id="8" name="size" type="Result" version="opset1"><input><port id="0">)" +
          two + "</port></input></layer>\n",
      std::string(kDirectEdge) +
          R"(<edge from-layer="1" from-port="0" to-layer="2" to-port="0"/>)"
          R"(<edge from-layer="2" from-port="1" to-layer="8" to-port="0"/>)");
}

std::string unknown_operator_ir(int height, int width) {
  const std::string rows = std::to_string(height);
  const std::string ports = dims(rows, width);
  const std::string layer =
      R"(<layer id="1" name="odd" type="Frobnicate" version="opset1"><input><port id="0">)" +
      ports + R"(</port></input><output><port id="1" precision="FP32">)" + ports +
      "</port></output></layer>\n";
  return net(parameter(rows, width) + layer + result(rows, width),
             R"(<edge from-layer="0" from-port="0" to-layer="1" to-port="0"/>
<edge from-layer="1" from-port="1" to-layer="9" to-port="0"/>)");
}

std::string weighted_ir(int height, int width) {
  const std::string rows = std::to_string(height);
  const std::string ports = dims(rows, width);
  const std::string layers =
      R"(<layer id="1" name="number" type="Const" version="opset1"><data element_type="f32" shape="" offset="0" size="4"/><output><port id="0" precision="FP32"/></output></layer>
<layer id="2" name="sum" type="Add" version="opset1"><data auto_broadcast="numpy"/><input><port id="0">)" +
      ports + R"(</port><port id="1"/></input><output><port id="2" precision="FP32">)" + ports +
      "</port></output></layer>\n";
  return net(parameter(rows, width) + layers + result(rows, width),
             R"(<edge from-layer="0" from-port="0" to-layer="2" to-port="0"/>
<edge from-layer="1" from-port="0" to-layer="2" to-port="1"/>
<edge from-layer="2" from-port="2" to-layer="9" to-port="0"/>)");
}

}  // namespace npu::test
