#include "comparison.hpp"
#include "console.hpp"
#include "json_text.hpp"
#include "report.hpp"

namespace {

/// Exit codes of cmp and diff: a difference is no failure.
constexpr int kEqual = 0, kDifferent = 1, kTrouble = 2;

}  // namespace

int main(int argc, char** argv) {
  CLI::App app(
      "Compares what a model gives on two devices, or what two models give, for the same "
      "inputs.\nExit code: 0 equal within the tolerance, 1 different, 2 failed or wrong usage.",
      "npu-compare");
  Arguments arguments;
  add_options(app, arguments);
  if (const auto code = parse_or_exit_code(app, argc, argv)) return *code;
  log_to_stderr("npu-compare");
  bool equal = false;
  const int code = run_tool("npu-compare", [&] {
    const Comparison comparison = compare(arguments);
    equal = comparison.is_equal();
    print(arguments.json ? json_text(to_json(arguments, comparison))
                         : to_text(arguments, comparison));
    return exit_code::kDone;
  });
  if (code != exit_code::kDone) return kTrouble;
  return equal ? kEqual : kDifferent;
}
