#pragma once

#include <string>

#include <npucore/device.hpp>

#include "ir/blob_container.hpp"

namespace npu::internal {

/// The versions a blob was built with, if it tells them: from the notes and the text that Intel's
/// compiler writes into the ELF, then from npucore's description.
ir::BuiltWith built_with(const ir::BlobView& blob, const std::string& title);

/// The versions that this device's compiler writes into blobs.
ir::BuiltWith built_with(const DeviceInfo& device);

/// Describes both sides, for messages.
std::string describe_both(const ir::BuiltWith& blob, const DeviceInfo& device);

/// Throws Error(kIncompatible) for a blob that cannot run on the device: see why_unfit().
void check_fit(const std::string& title, const ir::BuiltWith& blob, const DeviceInfo& device);

}  // namespace npu::internal
