#include "image.hpp"

#include <cstring>
#include <new>
#include <openvino/core/version.hpp>

#include "base/config.hpp"

namespace softnpu {
namespace {

BlobTarget this_device() {
  return {config().platform->platform, runtime_version()};
}

}  // namespace

RuntimeVersion runtime_version() {
  constexpr RuntimeVersion kOpenVino{OPENVINO_VERSION_MAJOR, OPENVINO_VERSION_MINOR,
                                     OPENVINO_VERSION_PATCH};
  return config().runtime.value_or(kOpenVino);
}

Image::Image(Mapping own, std::span<const std::byte> file)
    : own_(std::move(own)),
      blob_(read_blob(file, this_device())),
      bytes_(file.first(blob_.size_bytes)) {}

std::shared_ptr<const Image> Image::from_source(const BlobSource& source) {
  size_t size_bytes = 0;
  Mapping file = write_blob(source, this_device(), &size_bytes);
  const std::span<const std::byte> bytes(file.base(), size_bytes);
  return std::shared_ptr<const Image>(new Image(std::move(file), bytes));
}

std::shared_ptr<const Image> Image::from_binary(std::span<const std::byte> file, bool borrow) {
  // Read first: a damaged file costs no copy, and bytes behind the ELF file are not copied.
  const size_t size_bytes = read_blob(file, this_device()).size_bytes;
  if (borrow) return std::shared_ptr<const Image>(new Image({}, file));
  Mapping copy = Mapping::map(size_bytes, -1);
  if (!copy) throw std::bad_alloc();
  std::memcpy(copy.base(), file.data(), size_bytes);
  const std::span<const std::byte> bytes(copy.base(), size_bytes);
  return std::shared_ptr<const Image>(new Image(std::move(copy), bytes));
}

std::shared_ptr<const Image> Image::from_mapping(Mapping file, size_t size_bytes) {
  const std::span<const std::byte> bytes(file.base(), size_bytes);
  return std::shared_ptr<const Image>(new Image(std::move(file), bytes));
}

}  // namespace softnpu
