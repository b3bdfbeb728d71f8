#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "blob_description.hpp"

namespace npu::ir {

/// The parts of a blob file, which point into the file's bytes.
struct BlobView {
  std::span<const std::byte> native;  ///< the ELF, with its zero padding if the file has it
  std::optional<BlobDescription> description;  ///< only in blobs that npucore wrote
  std::string writer;  ///< "OpenVINO 2026.4.1", "npucore"; empty for a bare ELF
};

/// Takes a bare ELF, an exported blob of OpenVINO (metadata 2.0 to 2.7) or one of npucore. Throws
/// Error(kInvalidArgument) if it is no blob or is damaged, Error(kUnsupported) for kinds of blobs
/// that cannot be loaded; the message names `file_name` and the reason.
BlobView open_blob(std::span<const std::byte> file, const std::string& file_name);

/// The part that follows the ELF in a file of npucore:
///
///     zeros up to a multiple of 4096
///     OpenVINO's metadata, version 2.0: u16 minor, u16 major, then 3 x u16 version of OpenVINO
///     description (XML), u64 its FNV-1a hash, u64 its size, "NPUCORE1"
///     u64 size of everything in front of the metadata, "OVNPU"
///
/// Integers are little-endian and unaligned. OpenVINO's NPU plugin finds the metadata by the last
/// two fields and allows a gap behind it; the description lies in that gap. All its releases with
/// 2.x metadata read version 2.0; the version of OpenVINO named there is 2026.4.1, with which it
/// was tested.
std::vector<std::byte> blob_trailer(std::size_t native_size_bytes,
                                    const BlobDescription& description,
                                    std::uint32_t compiler_version);

}  // namespace npu::ir
