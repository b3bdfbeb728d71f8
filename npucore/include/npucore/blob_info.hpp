#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include <npucore/device.hpp>
#include <npucore/export.hpp>
#include <npucore/frame.hpp>
#include <npucore/types.hpp>

namespace npu {

/// A section of the ELF that a driver's compiler wrote.
struct BlobSection {
  std::string name;
  std::uint32_t type = 0;  ///< sh_type; 1: data, 3: strings, 7: note, 8: no bytes in the file
  std::uint64_t offset = 0;
  std::uint64_t size_bytes = 0;
};

/// What a blob file tells about itself, without a device.
struct BlobInfo {
  std::string writer;  ///< "OpenVINO 2026.4.1", "npucore"; empty for a bare ELF
  std::uint64_t file_bytes = 0;
  std::uint64_t native_bytes = 0;  ///< the ELF, with its padding where the file has it
  std::vector<BlobSection> sections;
  /// What it was built for and with; empty and 0 where the blob does not tell.
  std::string platform;
  Version compiler, elf, runtime;
  std::uint32_t driver_version = 0;
  /// Only of blobs that npucore wrote.
  std::string model_name;
  std::vector<Port> inputs, outputs;
  std::optional<FrameInput> frame_input;
  std::map<std::string, std::string> model_info;
};

/// Throws Error(kNotFound), Error(kIo), Error(kInvalidArgument) for what is no blob or is damaged,
/// and Error(kUnsupported) for kinds of blobs that cannot be loaded.
NPU_API BlobInfo read_blob_info(const std::filesystem::path& path);

}  // namespace npu
