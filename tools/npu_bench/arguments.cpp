#include "arguments.hpp"

#include "device_option.hpp"
#include "model_file.hpp"

bool Arguments::is_ir() const {
  return is_ir_path(model);
}

namespace {

/// Refuses nonsense, and times too long for nanoseconds: CLI::PositiveNumber accepts text that is
/// no number.
std::string refusal_of_seconds(const std::string& text) {
  constexpr double kMost = 1e9;
  double seconds = 0;
  const bool fits = CLI::detail::lexical_cast(text, seconds) && seconds > 0 && seconds <= kMost;
  return fits ? "" : "'" + text + "' is no number of seconds above 0, up to 1e9";
}

}  // namespace

void add_options(CLI::App& app, Arguments& arguments) {
  app.add_option("model", arguments.model, "an IR (.xml), or a blob (any other name)")->required();
  app.add_option("--weights", arguments.weights, "the IR's weights (default: the .bin beside it)");
  app.add_option("-d,--device", arguments.device, kDeviceNames)
      ->check(device_name())
      ->capture_default_str();
  app.add_option("--hint", arguments.hint,
                 "what to compile for and how many requests to use: throughput, latency or none")
      ->check(CLI::IsMember({"throughput", "latency", "none"}))
      ->capture_default_str();
  app.add_option("--api", arguments.api,
                 "async: all requests in flight; sync: one inference after the other")
      ->check(CLI::IsMember({"async", "sync"}))
      ->capture_default_str();
  app.add_option("-n,--requests", arguments.requests,
                 "requests in flight (default: the optimum for device and hint)")
      ->check(CLI::Range(0, 4096));
  app.add_option("-t,--time", arguments.seconds,
                 "seconds to run (default: 10, or no limit with -i)")
      ->check(CLI::Validator(refusal_of_seconds, "POSITIVE"));
  app.add_option("-i,--iterations", arguments.iterations, "inferences to run (default: no limit)")
      ->check(CLI::NonNegativeNumber);
  app.add_option("--input", arguments.inputs,
                 "an input's raw data or NumPy array, NAME=FILE, or FILE for a single input; "
                 "repeatable (default: "
                 "random)")
      ->take_all();
  app.add_option("--memory", arguments.memory,
                 "where inputs are: device, in the driver's memory; host, in the program's own")
      ->check(CLI::IsMember({"device", "host"}))
      ->capture_default_str();
  app.add_option("--reshape", arguments.reshape,
                 "an input's shape before compiling, NAME=N,N,...; repeatable")
      ->take_all();
  app.add_option("--seed", arguments.seed, "seed for the random inputs")->capture_default_str();
  app.add_option("-p,--property", arguments.properties, "a property, KEY=VALUE; repeatable")
      ->take_all();
  app.add_flag("--pc", arguments.profile, "show the time of an inference by layer");
  app.add_flag("--estimate", arguments.estimate,
               "show what Intel's compiler library expects of an IR on this device's platform");
  app.add_flag("--json", arguments.json, "print one JSON object");
  app.callback([&arguments] {
    if (arguments.estimate && !arguments.is_ir()) {
      throw CLI::ValidationError("--estimate", "needs an IR: a blob is compiled already");
    }
  });
}
