#pragma once

#include <npucore/npucore.hpp>

#include "arguments.hpp"

/// The two that run.
struct Devices {
  npu::Device tested, reference;
};
Devices open_devices(const Arguments& arguments);

/// A side's IR, in the shapes that --reshape asks for.
npu::Model read_ir(const Side& side, const Arguments& arguments);
/// With the side's properties.
npu::CompiledModel compile(const npu::Model& model, const Side& side, const npu::Device& device);
/// A side's IR compiled, or its blob.
npu::CompiledModel load(const Side& side, const Arguments& arguments, const npu::Device& device);
