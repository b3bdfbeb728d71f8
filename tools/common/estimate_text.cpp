#include "estimate_text.hpp"

#include <iomanip>
#include <sstream>

std::string estimate_text(const std::optional<npu::LatencyEstimate>& estimate) {
  if (!estimate) return "not estimated by this compiler";
  std::ostringstream out;
  out << std::fixed << std::setprecision(0) << estimate->latency_us << " us at "
      << estimate->frequency_mhz << " MHz, by the compiler's estimate";
  const char* before = ", without ";
  for (const auto& name : estimate->left_out) {
    out << before << name;
    before = ", ";
  }
  return out.str();
}

nlohmann::ordered_json estimate_json(const std::optional<npu::LatencyEstimate>& estimate) {
  if (!estimate) return nullptr;
  return {{"latency_us", estimate->latency_us},
          {"frequency_mhz", estimate->frequency_mhz},
          {"without", estimate->left_out}};
}
