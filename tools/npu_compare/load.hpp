#pragma once

#include <npucore/npucore.hpp>

#include "arguments.hpp"

/// The two devices.
struct Devices {
  npu::Device tested, reference;
};
Devices open_devices(const Arguments& arguments);

/// A side's IR, in the shapes given by --reshape.
npu::Model read_ir(const Side& side, const Arguments& arguments);
/// Compiles with the side's properties.
npu::CompiledModel compile(const npu::Model& model, const Side& side, const npu::Device& device);
/// Compiles a side's IR, or loads its blob.
npu::CompiledModel load(const Side& side, const Arguments& arguments, const npu::Device& device);
