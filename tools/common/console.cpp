#include "console.hpp"

#include <algorithm>
#include <array>
#include <cstdio>
#include <iostream>

#include <npucore/error.hpp>

#include "describe_options.hpp"

namespace {

/// Bytes of the character that begins with this one; 0 if none does.
std::size_t size_by_first_byte(unsigned char first) {
  if (first < 0x80) return 1;
  if (first < 0xc2 || first > 0xf4) return 0;
  return first < 0xe0 ? 2 : first < 0xf0 ? 3 : 4;
}

/// Bytes of the first character, checked; 0 if it is no UTF-8.
std::size_t character_size(std::string_view text) {
  const std::size_t size = size_by_first_byte(static_cast<unsigned char>(text[0]));
  if (size > text.size()) return 0;
  const auto rest = text.substr(1, size == 0 ? 0 : size - 1);
  const bool whole = std::all_of(rest.begin(), rest.end(),
                                 [](char c) { return static_cast<unsigned char>(c) >> 6 == 2; });
  return whole ? size : 0;
}

/// ASCII that is shown unchanged.
bool is_plain(char c) {
  return (c >= ' ' && c < 0x7f) || c == '\n' || c == '\t';
}

/// Control characters of ASCII, and of Latin-1's second set: C2 80 to C2 9F in UTF-8.
bool is_control(std::string_view character) {
  const auto first = static_cast<unsigned char>(character[0]);
  if (character == "\n" || character == "\t") return false;
  if (character.size() == 1) return first < ' ' || first == 0x7f;
  return first == 0xc2 && static_cast<unsigned char>(character[1]) < 0xa0;
}

std::string escaped(std::string_view bytes) {
  std::string text;
  for (const char c : bytes) {
    std::array<char, 8> digits = {};
    std::snprintf(digits.data(), digits.size(), "\\x%02x", static_cast<unsigned char>(c));
    text += digits.data();
  }
  return text;
}

/// Turns kDone into kFailed if the standard output could not be written.
int checked_output(const std::string& tool, int code) {
  std::cout.flush();
  if (std::cout) return code;
  std::cerr << tool
            << ": the standard output cannot be written: is its disk full, or is it closed?\n";
  return code == exit_code::kDone ? exit_code::kFailed : code;
}

std::string option_for(npu::NextStep step) {
  switch (step) {
    case npu::NextStep::kReshape:
      return ", by --reshape NAME=1,3,640,640";
    case npu::NextStep::kNameInput:
      return "; name it by --input NAME";
    case npu::NextStep::kNone:
      break;
  }
  return {};
}

/// Prints the driver's log too: it often holds the only name of the operator at fault.
void report(const std::string& tool, const npu::Error& error) {
  const std::string message = error.what();
  std::cerr << tool << ": " << printable(message + option_for(error.next_step())) << '\n';
  if (!error.driver_log().empty() && message.find(error.driver_log()) == std::string::npos) {
    std::cerr << printable(error.driver_log()) << '\n';
  }
}

}  // namespace

std::string printable(std::string_view text) {
  std::string shown;
  while (true) {
    const auto* const end = std::find_if_not(text.begin(), text.end(), is_plain);
    const auto plain = static_cast<std::size_t>(end - text.begin());
    shown += text.substr(0, plain);
    text.remove_prefix(plain);
    if (text.empty()) return shown;
    const std::size_t size = character_size(text);
    const std::string_view character = text.substr(0, size == 0 ? 1 : size);
    shown += size == 0 || is_control(character) ? escaped(character) : std::string(character);
    text.remove_prefix(character.size());
  }
}

void print(std::string_view text) {
  std::cout << printable(text);
}

std::optional<int> parse_or_exit_code(CLI::App& app, int argc, char** argv) {
  if (argc == 2 && std::string_view(argv[1]) == "--describe-options") {
    std::cout << describe_options(app);
    return checked_output(app.get_name(), exit_code::kDone);
  }
  // An option that may be repeated takes one value each time, and not the model's name behind it.
  for (CLI::Option* option : app.get_options()) {
    if (!option->get_positional()) {
      option->allow_extra_args(false);
    }
  }
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    const int code = app.exit(error) == 0 ? exit_code::kDone : exit_code::kUsage;
    return checked_output(app.get_name(), code);
  }
  return {};
}

void log_to_stderr(const std::string& tool) {
  npu::set_log_sink([tool](npu::LogLevel level, std::string_view message) {
    if (level > npu::LogLevel::kWarning) return;
    std::cerr << tool << ": " << (level == npu::LogLevel::kWarning ? "warning: " : "")
              << printable(message) << '\n';
  });
}

int run_tool(const std::string& tool, const std::function<int()>& work) {
  try {
    const int code = work();
    return checked_output(tool, code);
  } catch (const npu::Error& error) {
    report(tool, error);
  } catch (const std::exception& error) {
    std::cerr << tool << ": " << printable(error.what()) << '\n';
  }
  return exit_code::kFailed;
}
