#include "console.hpp"

#include <iostream>

#include <npucore/error.hpp>

#include "describe_options.hpp"

namespace {

/// The driver's log often holds the only name of the operator at fault.
void report(const std::string& tool, const npu::Error& error) {
  const std::string message = error.what();
  std::cerr << tool << ": " << message << '\n';
  if (!error.driver_log().empty() && message.find(error.driver_log()) == std::string::npos) {
    std::cerr << error.driver_log() << '\n';
  }
}

}  // namespace

std::optional<int> parse_or_exit_code(CLI::App& app, int argc, char** argv) {
  if (argc == 2 && std::string_view(argv[1]) == "--describe-options") {
    std::cout << describe_options(app);
    return exit_code::kDone;
  }
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? exit_code::kDone : exit_code::kUsage;
  }
  return {};
}

void log_to_stderr(const std::string& tool) {
  npu::set_log_sink([tool](npu::LogLevel level, std::string_view message) {
    if (level > npu::LogLevel::kWarning) return;
    std::cerr << tool << ": " << (level == npu::LogLevel::kWarning ? "warning: " : "") << message
              << '\n';
  });
}

int run_tool(const std::string& tool, const std::function<int()>& work) {
  try {
    return work();
  } catch (const npu::Error& error) {
    report(tool, error);
  } catch (const std::exception& error) {
    std::cerr << tool << ": " << error.what() << '\n';
  }
  return exit_code::kFailed;
}
