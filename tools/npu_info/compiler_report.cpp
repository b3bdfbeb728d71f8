#include "compiler_report.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <sstream>

#include <npucore/error.hpp>

namespace {

using nlohmann::ordered_json;

std::string words_of(const npu::Version& version) {
  return std::to_string(version.major) + '.' + std::to_string(version.minor);
}

/// Option -> the platforms that take it.
std::map<std::string, std::vector<std::string>> platforms_by_option(
    const std::vector<CompilerReport>& compilers) {
  std::map<std::string, std::vector<std::string>> platforms;
  for (const auto& [platform, info] : compilers) {
    for (const auto& option : info.options) platforms[option].push_back(platform);
  }
  return platforms;
}

}  // namespace

std::vector<CompilerReport> compiler_infos() {
  std::vector<CompilerReport> reports;
  std::optional<npu::Error> refusal;
  for (const std::string& platform : npu::platforms()) {
    try {
      reports.push_back({platform, npu::compiler_info({platform})});
    } catch (const npu::Error& error) {
      if (error.code() == npu::ErrorCode::kNotFound) throw;
      refusal = error;  // a library may know fewer
    }
  }
  if (reports.empty()) throw *refusal;
  return reports;
}

ordered_json to_json(const std::vector<CompilerReport>& compilers) {
  const auto& info = compilers.front().info;
  ordered_json json = {{"library", info.library},
                       {"id", info.id},
                       {"interface", words_of(info.interface)},
                       {"compiler", words_of(info.compiler)},
                       {"opset", info.newest_opset}};
  for (const auto& [platform, of_platform] : compilers) {
    json["options"][platform] = of_platform.options;
  }
  return json;
}

std::string to_text(const std::vector<CompilerReport>& compilers) {
  const auto& info = compilers.front().info;
  std::ostringstream out;
  out << info.library << "\n  compiler   " << words_of(info.compiler) << "  " << info.id
      << "\n  interface  VCL " << words_of(info.interface) << "\n  opset      " << info.newest_opset
      << "\n  platforms ";
  for (const auto& [platform, of_platform] : compilers) out << ' ' << platform;
  out << "\noptions that it lists:\n";
  for (const auto& [option, platforms] : platforms_by_option(compilers)) {
    out << "  " << option;
    if (platforms.size() < compilers.size()) {
      out << "  (only";
      for (const auto& platform : platforms) out << ' ' << platform;
      out << ')';
    }
    out << '\n';
  }
  return out.str();
}
