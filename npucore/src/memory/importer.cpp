#include <npucore/error.hpp>
#include <npucore/importer.hpp>

#include "device/place.hpp"

#include "buffers.hpp"
#include "tensor_maker.hpp"

namespace npu {

Importer::Importer(const Device& device) : device_(device) {}

Tensor Importer::import(int fd) {
  const internal::Place place = internal::place_on(device_.state());
  return internal::TensorMaker::make(internal::buffers_of(place.device).imports.import(place, fd));
}

KeptImport Importer::keep(int fd) {
  return KeptImport(internal::buffers_of(device_.state()).imports.keep(device_.state(), fd));
}

Tensor KeptImport::tensor() const {
  if (!buffer_) throw Error(ErrorCode::kInvalidArgument, "KeptImport::tensor: no buffer is kept");
  const internal::Place place = internal::place_on(buffer_->device);
  return internal::TensorMaker::make(
      internal::buffers_of(place.device).imports.import(place, *buffer_));
}

std::vector<Tensor> Importer::import(std::span<const KeptImport* const> buffers) {
  std::vector<Tensor> tensors;
  tensors.reserve(buffers.size());
  for (const KeptImport* buffer : buffers) tensors.push_back(buffer->tensor());
  return tensors;
}

ImportStats Importer::stats() const {
  return internal::buffers_of(device_.state()).imports.stats();
}

}  // namespace npu
