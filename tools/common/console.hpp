#pragma once

#include <CLI/CLI.hpp>
#include <functional>
#include <optional>
#include <string>

#include <npucore/error.hpp>

/// What every tool of this project ends with.
namespace exit_code {
constexpr int kDone = 0;
constexpr int kFailed = 1;
constexpr int kUsage = 2;
}  // namespace exit_code

/// Parses the command line. The code to end with, where there is nothing more to do: --help,
/// --describe-options (describe_options.hpp), or words that are no usage.
std::optional<int> parse_or_exit_code(CLI::App& app, int argc, char** argv);

/// The library's errors and warnings go to the standard error stream, after the tool's name.
void log_to_stderr(const std::string& tool);

/// Runs `work`; an exception becomes its message on the standard error stream, with the driver's
/// log where there is one, and kFailed.
int run_tool(const std::string& tool, const std::function<int()>& work);
