#include <poll.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <iostream>
#include <map>

#include "console.hpp"
#include "interrupt.hpp"
#include "json_text.hpp"
#include "sampler.hpp"
#include "usage_report.hpp"

namespace {

constexpr const char* kRoot = "NPU_TOP_ROOT";  // folder of sys and proc, for tests
constexpr double kMostSeconds = 3600;

const std::map<std::string, Shown> kShown = {
    {"all", Shown::kAll}, {"npu", Shown::kNpu}, {"software", Shown::kSoftware}};

struct Arguments {
  double interval = 1;
  std::string device = "all";
  bool once = false;
  bool json = false;
};

std::string refusal_of_seconds(const std::string& text) {
  double seconds = 0;
  const bool fits =
      CLI::detail::lexical_cast(text, seconds) && seconds >= 0.01 && seconds <= kMostSeconds;
  return fits ? "" : "'" + text + "' is no number of seconds from 0.01 to 3600";
}

void add_options(CLI::App& app, Arguments& arguments) {
  app.add_option("-i,--interval", arguments.interval, "seconds from one look to the next")
      ->check(CLI::Validator(refusal_of_seconds, "SECONDS"))
      ->capture_default_str();
  app.add_option("--device", arguments.device, "what to show: all, npu or software")
      ->check(CLI::IsMember({"all", "npu", "software"}))
      ->capture_default_str();
  app.add_flag("--once", arguments.once, "look for one interval, print it and end");
  app.add_flag("--json", arguments.json,
               "print JSON: one object with --once, else one on each line");
}

/// False if interrupted. Waits in short steps: a signal may come just before one of them.
bool wait(double seconds) {
  constexpr int kStepMs = 100;
  int left_ms = static_cast<int>(seconds * 1000);
  for (; left_ms > 0 && !InterruptWatch::interrupted(); left_ms -= kStepMs) {
    ::poll(nullptr, 0, std::min(left_ms, kStepMs));
  }
  return !InterruptWatch::interrupted();
}

std::string for_screen(const std::string& text) {
  winsize size = {};
  const bool is_known = ::ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_row > 1;
  return is_known ? cut_to_screen(printable(text), size.ws_row, size.ws_col) : text;
}

void show(const Arguments& arguments, const Usage& usage) {
  const bool sees_all = ::geteuid() == 0;
  if (arguments.json) {
    const auto json = to_json(usage, sees_all);
    constexpr auto kReplace = nlohmann::ordered_json::error_handler_t::replace;
    print(arguments.once ? json_text(json) : json.dump(-1, ' ', true, kReplace) + "\n");
  } else if (arguments.once) {
    print(to_text(usage, sees_all));
  } else if (::isatty(STDOUT_FILENO)) {
    std::cout << "\x1b[H\x1b[J";  // an empty screen
    print(for_screen(to_text(usage, sees_all)));
  } else {
    print(to_text(usage, sees_all) + "\n");
  }
  std::cout.flush();
}

int run(const Arguments& arguments) {
  const char* const root = ::secure_getenv(kRoot);
  Sampler sampler(root ? root : "");
  const InterruptWatch watch;
  Sample before = sampler.take();
  while (wait(arguments.interval)) {
    Sample now = sampler.take();
    Usage usage = usage_between(before, now);
    keep_only(usage, kShown.at(arguments.device));
    show(arguments, usage);
    if (arguments.once || !std::cout) break;
    before = std::move(now);
  }
  return exit_code::kDone;
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app(
      "Shows how busy the NPUs are, their memory, and the processes that use them.\nCtrl-C ends "
      "it.\nExit code: 0 done, 1 failed, 2 wrong usage.",
      "npu-top");
  Arguments arguments;
  add_options(app, arguments);
  if (const auto code = parse_or_exit_code(app, argc, argv)) return *code;
  npu::set_log_sink([](npu::LogLevel, std::string_view) {});  // nobody asked to run a model
  return run_tool("npu-top", [&] { return run(arguments); });
}
