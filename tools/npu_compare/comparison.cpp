#include "comparison.hpp"

#include <algorithm>

#include "inputs.hpp"
#include "load.hpp"
#include "pair.hpp"

namespace {

void compare_outputs(const Arguments& arguments, const InputSource& inputs, Pair& pair,
                     Comparison& result) {
  const auto& tested = pair.tested().outputs();
  const auto& reference = pair.reference().outputs();
  const auto& matched = pair.outputs();
  AnswerComparer answers(arguments.tested.model, arguments.reference.model, pair);
  std::vector<DifferenceMeter> meters(matched.size(), DifferenceMeter(arguments.tolerance));
  for (std::size_t frame = 0; frame < result.frames; ++frame) {
    pair.run(inputs, frame);
    answers.add(frame, pair);
    for (std::size_t i = 0; i < matched.size(); ++i) pair.measure(matched[i], meters[i]);
  }
  for (std::size_t i = 0; i < matched.size(); ++i) {
    result.outputs.push_back(
        {tested[matched[i].tested], reference[matched[i].reference], meters[i].result()});
  }
  result.answers = answers.result();
}

std::size_t frames_of(const Arguments& arguments, const InputSource& inputs) {
  return arguments.count != 0 ? arguments.count : std::max<std::size_t>(1, inputs.frames());
}

}  // namespace

bool Comparison::is_equal() const {
  return std::all_of(outputs.begin(), outputs.end(), [](const OutputComparison& output) {
    return output.difference.is_within_tolerance();
  });
}

Comparison compare(const Arguments& arguments) {
  const auto devices = open_devices(arguments);
  Pair pair(load(arguments.tested, arguments, devices.tested),
            load(arguments.reference, arguments, devices.reference));
  pair.match_all_outputs();
  Comparison result{.tested_device = devices.tested.info(),
                    .reference_device = devices.reference.info(),
                    .inputs = pair.tested().inputs()};
  const InputSource inputs(result.inputs, arguments.inputs, arguments.seed);
  result.frames = frames_of(arguments, inputs);
  compare_outputs(arguments, inputs, pair, result);
  if (arguments.layers && !result.is_equal()) {
    result.layers = find_first_difference(arguments, devices, result.frames);
  }
  return result;
}
