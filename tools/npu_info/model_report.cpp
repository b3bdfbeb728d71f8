#include "model_report.hpp"

#include <sstream>

#include "port_report.hpp"

nlohmann::ordered_json to_json(const npu::Model& model) {
  return {{"model", model.name()},
          {"inputs", ports_json(model.inputs())},
          {"outputs", ports_json(model.outputs())},
          {"model_info", model.model_info()},
          {"warnings", model.warnings()}};
}

std::string to_text(const npu::Model& model) {
  std::ostringstream out;
  out << "  model   " << model.name() << '\n';
  print_ports(out, "input ", model.inputs());
  print_ports(out, "output", model.outputs());
  for (const auto& warning : model.warnings()) out << "  warning " << warning << '\n';
  return out.str();
}
