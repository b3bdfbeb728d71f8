#include "load.hpp"

#include "property_options.hpp"
#include "shape_options.hpp"

namespace {

npu::CompileOptions options_of(const Side& side) {
  npu::CompileOptions options;
  options.properties = properties_from(side.properties);
  return options;
}

}  // namespace

/// Opens the software NPU first: beside a real one, it must be asked for at the start.
Devices open_devices(const Arguments& arguments) {
  const std::string &tested = arguments.tested.device, &reference = arguments.reference.device;
  if (reference == "software") {
    auto software = npu::Device::open(reference);
    return {npu::Device::open(tested), std::move(software)};
  }
  auto opened = npu::Device::open(tested);
  return {std::move(opened), npu::Device::open(reference)};
}

npu::Model read_ir(const Side& side, const Arguments& arguments) {
  auto ir = npu::Model::read(side.model, side.weights);
  reshape(ir, arguments.reshape);
  return ir;
}

npu::CompiledModel compile(const npu::Model& model, const Side& side, const npu::Device& device) {
  return npu::CompiledModel::compile(device, model, options_of(side));
}

npu::CompiledModel load(const Side& side, const Arguments& arguments, const npu::Device& device) {
  if (side.is_ir()) return compile(read_ir(side, arguments), side, device);
  return npu::CompiledModel::import(device, side.model, options_of(side));
}
