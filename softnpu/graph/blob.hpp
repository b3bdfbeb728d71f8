// The native binary: a little-endian ELF64 file (readelf -S -n reads it) that holds a graph's IR
// and weights.
//
//   ELF header | section headers | .note.softnpu | .softnpu.flags | .shstrtab | .softnpu.ir |
//   .softnpu.weights
//
// The note's owner is "SoftNPU", its type 1, and its description a BlobNote. The weights start at a
// multiple of 64 bytes. Bytes behind the last section (padding, another format's footer) belong to
// the container and are ignored.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "base/mapping.hpp"
#include "base/version.hpp"

#include "weights.hpp"

namespace softnpu {

struct BlobNote {
  uint32_t format_version;
  uint32_t platform;        ///< as in NPU_PLATFORM
  uint32_t driver_version;  ///< version of the driver that wrote the file
  uint32_t checksum;        ///< of flags and IR, FNV-1a of 32 bits
  RuntimeVersion runtime;   ///< the runtime it needs
};

constexpr uint32_t kBlobFormatVersion = 2;

/// The target of a blob, or a device.
struct BlobTarget {
  uint32_t platform;
  RuntimeVersion runtime;
};
/// The parts of a blob; views of memory that somebody else owns.
struct BlobParts {
  std::string_view flags;  ///< the build flags
  std::string_view ir;
  std::span<const std::byte> weights;
};

struct Blob {
  BlobParts parts;
  size_t size_bytes;  ///< of the ELF file itself, without bytes behind it
};

/// The source of a blob's content.
struct BlobSource {
  std::string_view flags;
  std::string_view ir;
  const Weights& weights;
};

Mapping write_blob(const BlobSource& source, const BlobTarget& target, size_t* size_bytes);

/// Throws INVALID_NATIVE_BINARY for a file that is no ELF, is no software NPU's, or is for another
/// platform, runtime or format; INVALID_ARGUMENT for a damaged ELF file.
Blob read_blob(std::span<const std::byte> file, const BlobTarget& device);

}  // namespace softnpu
