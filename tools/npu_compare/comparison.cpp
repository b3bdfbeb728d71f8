#include "comparison.hpp"

#include <algorithm>

#include "inputs.hpp"
#include "pair.hpp"
#include "property_options.hpp"
#include "shape_options.hpp"

namespace {

struct Devices {
  npu::Device tested, reference;
};

/// The software NPU first: beside a real one, it has to be asked for at the start.
Devices open_devices(const Arguments& arguments) {
  const auto kind_of = [](const Side& side) { return npu::device_kind_from_string(side.device); };
  if (kind_of(arguments.reference) == npu::DeviceKind::kSoftware) {
    auto reference = npu::Device::open(npu::DeviceKind::kSoftware);
    return {npu::Device::open(kind_of(arguments.tested)), std::move(reference)};
  }
  auto tested = npu::Device::open(kind_of(arguments.tested));
  return {std::move(tested), npu::Device::open(kind_of(arguments.reference))};
}

npu::CompiledModel load(const Side& side, const Arguments& arguments, const npu::Device& device) {
  npu::CompileOptions options;
  options.properties = properties_from(side.properties);
  if (!side.is_ir()) return npu::CompiledModel::import(device, side.model, options);
  auto ir = npu::Model::read(side.model, side.weights);
  reshape(ir, arguments.reshape);
  return npu::CompiledModel::compile(device, ir, options);
}

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
    for (std::size_t i = 0; i < matched.size(); ++i) {
      const auto [mine, other] = matched[i];
      meters[i].add(values_of(tested[mine], pair.tested_output(mine)),
                    values_of(reference[other], pair.reference_output(other)));
    }
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
  Comparison result{.tested_device = devices.tested.info(),
                    .reference_device = devices.reference.info(),
                    .inputs = pair.tested().inputs()};
  const InputSource inputs(result.inputs, arguments.inputs, arguments.seed);
  result.frames = frames_of(arguments, inputs);
  compare_outputs(arguments, inputs, pair, result);
  return result;
}
