#pragma once

#include <string>

#include <npucore/device.hpp>

#include "ir/blob_container.hpp"

namespace npu::internal {

/// What a blob was built with, as far as it tells: the notes of the ELF, which Intel's compiler
/// writes, then what npucore wrote beside it.
ir::BuiltWith built_with(const ir::BlobView& blob, const std::string& title);

/// What a blob of this device's compiler is built with.
ir::BuiltWith built_with(const DeviceInfo& device);

/// Both sides in words, for messages.
std::string describe_both(const ir::BuiltWith& blob, const DeviceInfo& device);

/// Throws Error(kIncompatible) for a blob that the device cannot run for certain: of another
/// platform, or whose ELF or runtime version has another major, or a newer minor, than the
/// driver's. Says which side to update.
void check_fit(const std::string& title, const ir::BuiltWith& blob, const DeviceInfo& device);

}  // namespace npu::internal
