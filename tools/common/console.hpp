#pragma once

#include <CLI/CLI.hpp>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include <npucore/error.hpp>

/// Exit codes of every tool of this project.
namespace exit_code {
constexpr int kDone = 0;
constexpr int kFailed = 1;
constexpr int kUsage = 2;
}  // namespace exit_code

/// Parses the command line. Returns the exit code if there is nothing more to do: --help,
/// --describe-options (describe_options.hpp), or a wrong usage.
std::optional<int> parse_or_exit_code(CLI::App& app, int argc, char** argv);

/// Sends the library's errors and warnings to the standard error stream, after the tool's name.
void log_to_stderr(const std::string& tool);

/// The text with control characters, and bytes that are no UTF-8, as "\\x1b": names come from
/// files, and must not control the terminal. Line breaks and tabs stay.
std::string printable(std::string_view text);

/// Writes printable text to the standard output.
void print(std::string_view text);

/// Runs `work`; an exception, or an output that could not be written, becomes a message on the
/// standard error stream, with the driver's log if there is one, and kFailed.
int run_tool(const std::string& tool, const std::function<int()>& work);
