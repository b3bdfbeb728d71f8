#include <npucore/error.hpp>
#include <npucore/importer.hpp>

#include "base/pimpl.hpp"
#include "device/place.hpp"

#include "buffers.hpp"
#include "tensors.hpp"

namespace npu {

Importer::Importer(const Device& device) : device_(device) {}

Tensor Importer::import(int fd) {
  const internal::Place place = internal::place_on(device_);
  return internal::whole_tensor(internal::buffers_of(place.device).imports.import(place, fd));
}

KeptImport Importer::keep(int fd) {
  const auto& device = internal::Pimpl::of(device_);
  return internal::Pimpl::make<KeptImport>(internal::buffers_of(device).imports.keep(device, fd));
}

Tensor KeptImport::tensor() const {
  if (!impl_) throw Error(ErrorCode::kInvalidArgument, "KeptImport::tensor: no buffer is kept");
  const internal::Place place = internal::place_on(impl_->device);
  return internal::whole_tensor(internal::buffers_of(place.device).imports.import(place, *impl_));
}

std::vector<Tensor> Importer::import(std::span<const KeptImport* const> buffers) {
  std::vector<Tensor> tensors;
  tensors.reserve(buffers.size());
  for (const KeptImport* buffer : buffers) tensors.push_back(buffer->tensor());
  return tensors;
}

ImportStats Importer::stats() const {
  return internal::buffers_of(internal::Pimpl::of(device_)).imports.stats();
}

}  // namespace npu
