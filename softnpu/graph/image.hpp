#pragma once

#include <cstddef>
#include <memory>
#include <span>

#include "base/mapping.hpp"

#include "blob.hpp"

namespace softnpu {

/// The version of the runtime of native binaries here: OpenVINO's, unless the environment sets
/// another.
RuntimeVersion runtime_version();

/// A graph's native binary in memory: the one owner of its IR and weights. The model that the CPU
/// plugin compiles refers to these weights, and so may the compiled one.
class Image {
 public:
  /// Writes a new native binary: the only copy of the client's IR and weights.
  static std::shared_ptr<const Image> from_source(const BlobSource& source);
  /// Reads a native binary; `borrow` uses the caller's memory, which must outlive the image,
  /// instead of a copy.
  static std::shared_ptr<const Image> from_binary(std::span<const std::byte> file, bool borrow);
  /// Reads a native binary in memory that becomes the image's own.
  static std::shared_ptr<const Image> from_mapping(Mapping file, size_t size_bytes);

  const BlobParts& parts() const { return blob_.parts; }
  std::span<const std::byte> bytes() const { return bytes_; }
  bool borrows() const { return !own_; }

 private:
  Image(Mapping own, std::span<const std::byte> file);

  Mapping own_;  // empty when borrowed
  Blob blob_;
  std::span<const std::byte> bytes_;
};

}  // namespace softnpu
