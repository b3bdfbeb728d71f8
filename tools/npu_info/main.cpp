#include <CLI/CLI.hpp>
#include <cstdio>
#include <iostream>

#include "npucore/error.hpp"
#include "npucore/log.hpp"
#include "report.hpp"

namespace {

constexpr int kFound = 0;
constexpr int kNoDevice = 1;
constexpr int kUsage = 2;

/// The report says itself that the software NPU stands in: no need for the library's warning.
void keep_only_errors() {
  npu::set_log_sink([](npu::LogLevel level, std::string_view message) {
    if (level == npu::LogLevel::kError) std::cerr << "npu-info: " << message << '\n';
  });
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app(
      "Shows the NPU, its driver, compiler and extensions, and what is missing where there "
      "is none.\nExit code: 0 a device was opened, 1 there is none, 2 wrong usage.",
      "npu-info");
  bool json = false;
  std::string device = "auto";
  app.add_flag("--json", json, "print one JSON object");
  app.add_option("--device", device, "auto, npu or software")
      ->check(CLI::IsMember({"auto", "npu", "software"}))
      ->capture_default_str();
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? kFound : kUsage;
  }
  keep_only_errors();
  const Report report = make_report(npu::device_kind_from_string(device));
  std::cout << (json ? to_json(report).dump(2) + '\n' : to_text(report));
  return report.device ? kFound : kNoDevice;
}
