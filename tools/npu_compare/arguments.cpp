#include "arguments.hpp"

#include <cmath>

#include "device_option.hpp"

namespace {

/// Refuses text that is no number, which CLI::NonNegativeNumber accepts.
std::string refusal_of_tolerance(const std::string& text) {
  double value = 0;
  const bool good = CLI::detail::lexical_cast(text, value) && value >= 0 && std::isfinite(value);
  return good ? "" : "'" + text + "' is no number from 0 up";
}

/// Compares one model on two devices, or two models on one.
void complete_reference(Arguments& arguments) {
  Side& reference = arguments.reference;
  const bool one_model = reference.model.empty();
  if (one_model) {
    reference.model = arguments.tested.model;
  }
  if (one_model && reference.weights.empty()) {
    reference.weights = arguments.tested.weights;
  }
  if (reference.device.empty()) {
    reference.device = one_model ? "software" : arguments.tested.device;
  }
}

void add_sides(CLI::App& app, Arguments& arguments) {
  app.add_option("model", arguments.tested.model, "an IR (.xml), or a blob (any other name)")
      ->required();
  app.add_option("reference", arguments.reference.model,
                 "what to compare it with (default: the same model)");
  app.add_option("--weights", arguments.tested.weights,
                 "the IR's weights (default: the .bin beside it)");
  app.add_option("--reference-weights", arguments.reference.weights,
                 "the reference's weights (default: the .bin beside it)");
  app.add_option("-d,--device", arguments.tested.device, kDeviceNames)
      ->check(device_name())
      ->capture_default_str();
  app.add_option("--reference-device", arguments.reference.device,
                 std::string(kDeviceNames) + " (default: software for one model, --device for two)")
      ->check(device_name());
  app.add_option("-p,--property", arguments.tested.properties,
                 "a property of the model, KEY=VALUE; repeatable")
      ->take_all();
  app.add_option("--reference-property", arguments.reference.properties,
                 "a property of the reference, KEY=VALUE; repeatable")
      ->take_all();
}

void add_inputs(CLI::App& app, Arguments& arguments) {
  app.add_option("--input", arguments.inputs,
                 "an input's raw data or NumPy array, NAME=FILE, or FILE for a single input; "
                 "repeatable, also for more frames (default: random)")
      ->take_all();
  app.add_option("--seed", arguments.seed, "seed for the random inputs")->capture_default_str();
  app.add_option("-n,--count", arguments.count,
                 "frames to compare (default: one, or as many as an input has files)")
      ->check(CLI::Range(1, 1000000));
  app.add_option("--reshape", arguments.reshape,
                 "an input's shape before compiling, NAME=N,N,...; repeatable")
      ->take_all();
}

void add_tolerances(CLI::App& app, Arguments& arguments) {
  const auto number = CLI::Validator(refusal_of_tolerance, "NUMBER");
  app.add_option("--tolerance", arguments.tolerance.absolute,
                 "how far a value may be from the reference's")
      ->check(number)
      ->capture_default_str();
  app.add_option("--relative-tolerance", arguments.tolerance.relative,
                 "how much farther, as a share of the reference's value")
      ->check(number)
      ->capture_default_str();
}

void add_layers(CLI::App& app, Arguments& arguments) {
  auto* layers = app.add_flag("--layers", arguments.layers,
                              "where outputs differ, find the first layer that does");
  app.add_option("--layers-at-once", arguments.layers_at_once,
                 "layers that are looked at in one compilation")
      ->check(CLI::Range(1, 4096))
      ->needs(layers)
      ->capture_default_str();
}

}  // namespace

void add_options(CLI::App& app, Arguments& arguments) {
  add_sides(app, arguments);
  add_inputs(app, arguments);
  add_tolerances(app, arguments);
  add_layers(app, arguments);
  app.add_flag("--json", arguments.json, "print one JSON object");
  app.callback([&arguments] {
    complete_reference(arguments);
    if (arguments.layers && !(arguments.tested.is_ir() && arguments.reference.is_ir())) {
      throw CLI::ValidationError("--layers", "needs IRs: a blob has no layers to look at");
    }
  });
}
