#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <npucore/device.hpp>
#include <npucore/frame.hpp>
#include <npucore/types.hpp>

#include "states.hpp"

namespace npu::ir {

/// Who made a blob and for what; zeros and empty where that is not known.
struct BuiltWith {
  std::string platform;
  Version compiler, elf, runtime;
  std::uint32_t driver_version = 0;
  bool operator==(const BuiltWith&) const = default;
};
/// "platform=4000 compiler=7.5 elf=1.2.7 runtime=11.13.0 driver=17301592"; what is not known is
/// left out.
std::string describe(const BuiltWith& built);

/// What npucore writes beside a driver's blob.
struct BlobDescription {
  std::string model_name;
  std::optional<FrameInput> frame_input;
  std::map<std::string, std::string> model_info;
  std::vector<Port> inputs, outputs;  ///< in argument order
  std::vector<StateValue> states;
  BuiltWith built_with;
};

/// A blob file, taken apart. Looks into the file's bytes.
struct BlobView {
  std::span<const std::byte> native;  ///< the ELF, with its zero padding where the file has it
  std::optional<BlobDescription> description;  ///< only of blobs that npucore wrote
  std::string writer;  ///< "OpenVINO 2026.4.1", "npucore"; empty for a bare ELF
};

/// Takes a bare ELF, an exported blob of OpenVINO (metadata 2.0 to 2.7) or one of npucore. Throws
/// Error(kInvalidArgument) for what is no blob or is damaged, Error(kUnsupported) for kinds of
/// blobs that cannot be loaded; the message names `file_name` and the reason.
BlobView open_blob(std::span<const std::byte> file, const std::string& file_name);

/// What follows the ELF in a file of npucore:
///
///     zeros up to a multiple of 4096
///     OpenVINO's metadata, version 2.0: u16 minor, u16 major, then 3 x u16 version of OpenVINO
///     description (XML), u64 its FNV-1a hash, u64 its size, "NPUCORE1"
///     u64 size of everything in front of the metadata, "OVNPU"
///
/// Integers are little-endian and unaligned. OpenVINO's NPU plugin finds the metadata by the last
/// two fields and allows a gap behind it, in which the description lies. Version 2.0 is what all
/// its releases with 2.x metadata read; the version of OpenVINO named there is 2026.4.1, the one it
/// was tried with.
std::vector<std::byte> blob_trailer(std::size_t native_size_bytes,
                                    const BlobDescription& description,
                                    std::uint32_t compiler_version);

}  // namespace npu::ir
