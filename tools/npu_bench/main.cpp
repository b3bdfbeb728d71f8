#include "benchmark.hpp"
#include "console.hpp"
#include "json_text.hpp"
#include "report.hpp"

int main(int argc, char** argv) {
  CLI::App app(
      "Measures how fast a model runs: the latency of its first inference, then latency and "
      "throughput of many.\nCtrl-C ends the run early and prints what was measured so far.\nExit "
      "code: 0 done, 1 failed, 2 wrong usage.",
      "npu-bench");
  Arguments arguments;
  add_options(app, arguments);
  if (const auto code = parse_or_exit_code(app, argc, argv)) return *code;
  log_to_stderr("npu-bench");
  return run_tool("npu-bench", [&] {
    const Benchmark benchmark = run_benchmark(arguments);
    print(arguments.json ? json_text(to_json(arguments, benchmark))
                         : to_text(arguments, benchmark));
    return exit_code::kDone;
  });
}
