// The native binary: a little-endian ELF64 file (readelf -S -n reads it) that holds a graph's IR
// and weights.
//
//   ELF header | section headers | .note.softnpu | .softnpu.flags | .shstrtab | .softnpu.ir |
//   .softnpu.weights
//
// The note's owner is "SoftNPU", its type 1, and its description a BlobNote. The weights start at a
// multiple of 64 bytes. What follows the last section (padding, another format's footer) belongs to
// the container and is ignored.
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
  uint32_t driver_version;  ///< that wrote the file
  uint32_t checksum;        ///< of flags and IR, FNV-1a of 32 bits
  RuntimeVersion runtime;   ///< that it needs
};

constexpr uint32_t kBlobFormatVersion = 2;

/// What a blob is for, or what a device is.
struct BlobTarget {
  uint32_t platform;
  RuntimeVersion runtime;
};
/// What a blob is made of; views of memory that somebody else owns.
struct BlobParts {
  std::string_view flags;  ///< the build flags
  std::string_view ir;
  std::span<const std::byte> weights;
};

struct Blob {
  BlobParts parts;
  size_t size_bytes;  ///< of the ELF file itself, without what follows it
};

/// What a blob is written from.
struct BlobSource {
  std::string_view flags;
  std::string_view ir;
  const Weights& weights;
};

Mapping write_blob(const BlobSource& source, const BlobTarget& target, size_t* size_bytes);

/// Throws INVALID_NATIVE_BINARY for what is no ELF file, is no software NPU's, or is for another
/// platform, another runtime or another format; INVALID_ARGUMENT for an ELF file that is damaged.
Blob read_blob(std::span<const std::byte> file, const BlobTarget& device);

}  // namespace softnpu
