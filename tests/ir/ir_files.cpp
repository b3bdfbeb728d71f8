#include "ir_files.hpp"

namespace npu::test {

std::string parameter_layer(int id, const std::string& name, const std::string& type,
                            const std::vector<int>& shape, const std::string& layout) {
  IrWriter ir;
  ir.parameter(name, type, shape, layout, name == "picture" ? "image" : name);
  return replaced(ir.layers(), "id=\"0\"", "id=\"" + std::to_string(id) + "\"");
}

std::string result_layer(int id, const std::string& name, const std::vector<int>& shape) {
  return "<layer id=\"" + std::to_string(id) + "\" name=\"" + name +
         "\" type=\"Result\" version=\"opset1\"><input><port id=\"0\">" + dims(shape) +
         "</port></input></layer>\n";
}

std::string identity_ir(const std::string& type, const std::vector<int>& shape,
                        const std::string& layout, const std::string& version,
                        const std::string& rt_info) {
  IrWriter ir("tested", version);
  ir.result(ir.parameter("picture", type, shape, layout, "image"));
  ir.rt_info(rt_info);
  return ir.xml();
}

std::string multiply_ir() {
  IrWriter ir;
  const auto numbers = ir.parameter("numbers", "f32", {1, 2});
  ir.result(
      ir.layer("Multiply", {numbers, ir.constant_at("two", "f32", {}, 0, 4)},
               {.name = "double", .data = "auto_broadcast=\"numpy\"", .tensor_names = "twice"}));
  return ir.xml();
}

}  // namespace npu::test
