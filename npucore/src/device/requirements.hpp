#pragma once

#include <string>
#include <string_view>

#include <npucore/device.hpp>

#include "ir/blob_description.hpp"

namespace npu::internal {

/// A blob's needs in the form of OpenVINO's RUNTIME_REQUIREMENTS, without unknown parts:
/// "meta=2.0;ov=2026.4.1;desc=[compiler=8.4;npu=4000;t=4;elf=1.2.2;mi=11.4.10]". `meta` and `ov`
/// are those that export_blob() writes, `t` is the number of tiles, `mi` the runtime.
std::string requirements_text(const ir::BuiltWith& blob);

/// Reads that form, or the inside of its brackets alone, as compilers write it into blobs. Skips
/// names that it does not know. Throws Error(kInvalidArgument) for a value that is no version.
ir::BuiltWith read_requirements(std::string_view text);

/// The reason that the blob cannot run on the device, and which side to update; empty if it can: it
/// needs another platform or more tiles, or its ELF or runtime version has another major, or a
/// newer minor, than the driver's.
std::string why_unfit(const ir::BuiltWith& blob, const DeviceInfo& device);

/// "SUPPORTED", "UNSUPPORTED", or "NOT_APPLICABLE" for a blob of which nothing is known.
std::string compatibility(const ir::BuiltWith& blob, const DeviceInfo& device);

}  // namespace npu::internal
