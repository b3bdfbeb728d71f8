#include "estimate.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <string_view>

namespace npu::internal {
namespace {

/// The text behind `words`; nothing where `words` are missing.
std::optional<std::string_view> behind(std::string_view text, std::string_view words) {
  const auto at = text.find(words);
  if (at == text.npos) return std::nullopt;
  return text.substr(at + words.size());
}

/// The number at the beginning of the text.
std::optional<double> leading_number(std::string_view text) {
  double number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end == text.data() || !std::isfinite(number)) return std::nullopt;
  return number;
}

/// "builtin_Convert.convert_p00" is a Convert.
std::string operator_name(std::string_view kernel) {
  kernel = kernel.substr(0, kernel.find('.'));
  constexpr std::string_view kPrefix = "builtin_";
  if (kernel.starts_with(kPrefix)) {
    kernel.remove_prefix(kPrefix.size());
  }
  return std::string(kernel);
}

/// Each name once. Ends early at a list too long to be one of operators.
std::vector<std::string> operator_names(std::string_view list) {
  constexpr std::size_t kMostNames = 64;
  std::vector<std::string> names;
  while (names.size() < kMostNames) {
    const auto end = list.find(", ");
    const std::string name = operator_name(list.substr(0, end));
    if (std::find(names.begin(), names.end(), name) == names.end()) {
      names.push_back(name);
    }
    if (end == list.npos) return names;
    list.remove_prefix(end + 2);
  }
  return names;
}

}  // namespace

std::optional<LatencyEstimate> read_estimate(const std::string& printed) {
  const auto latency = behind(printed, "Estimated inference latency: ");
  if (!latency) return std::nullopt;
  const std::string_view line = latency->substr(0, latency->find('\n'));
  const auto frequency = behind(line, "frequency ");
  const auto us = leading_number(line), mhz = leading_number(frequency.value_or(""));
  if (!us || !mhz) return std::nullopt;
  LatencyEstimate estimate{*us, *mhz, {}};
  const auto kernels = behind(printed, "SHAVE operations are unsupported by VPUNN");
  const auto list = kernels ? behind(kernels->substr(0, kernels->find('\n')), "[") : std::nullopt;
  if (list) {
    estimate.left_out = operator_names(list->substr(0, list->find(']')));
  }
  return estimate;
}

}  // namespace npu::internal
