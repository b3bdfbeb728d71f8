#include "port_report.hpp"

namespace {

const std::string& shown_name(const npu::Port& port) {
  return port.tensor_names.empty() ? port.name : port.tensor_names.front();
}

}  // namespace

nlohmann::ordered_json ports_json(const std::vector<npu::Port>& ports) {
  auto json = nlohmann::ordered_json::array();
  for (const auto& port : ports) {
    json.push_back({{"name", port.name},
                    {"tensor_names", port.tensor_names},
                    {"type", npu::to_string(port.type)},
                    {"shape", port.shape}});
  }
  return json;
}

void print_ports(std::ostream& out, const char* kind, const std::vector<npu::Port>& ports) {
  for (const auto& port : ports) {
    out << "  " << kind << "  " << shown_name(port) << "  " << npu::to_string(port.type)
        << npu::to_string(port.shape) << '\n';
  }
}
