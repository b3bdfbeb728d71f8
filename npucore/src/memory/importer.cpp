#include <npucore/error.hpp>
#include <npucore/importer.hpp>

#include "base/api.hpp"
#include "base/pimpl.hpp"
#include "device/place.hpp"

#include "buffers.hpp"
#include "tensors.hpp"

namespace npu {

Importer::Importer(const Device& device) : device_(device) {}

Tensor Importer::import(int fd) try {
  const internal::Place place = internal::place_on(device_);
  return internal::whole_tensor(internal::buffers_of(place.device).imports.import(place, fd));
} catch (...) {
  base::rethrow_as_error();
}

KeptImport Importer::keep(int fd) try {
  const auto& device = internal::Pimpl::live(device_, "Importer");
  return internal::Pimpl::make<KeptImport>(internal::buffers_of(device).imports.keep(device, fd));
} catch (...) {
  base::rethrow_as_error();
}

Tensor KeptImport::tensor() const try {
  if (!impl_) throw Error(ErrorCode::kInvalidArgument, "KeptImport::tensor: no buffer is kept");
  const internal::Place place = internal::place_on(impl_->device);
  return internal::whole_tensor(internal::buffers_of(place.device).imports.import(place, *impl_));
} catch (...) {
  base::rethrow_as_error();
}

void Importer::import(std::span<const KeptImport* const> buffers, std::span<Tensor> tensors) try {
  if (tensors.size() < buffers.size()) {
    throw Error(ErrorCode::kInvalidArgument, "Importer::import: more buffers than tensors");
  }
  for (std::size_t i = 0; i < buffers.size(); ++i) {
    if (!buffers[i]) throw Error(ErrorCode::kInvalidArgument, "Importer::import: a buffer is null");
    tensors[i] = buffers[i]->tensor();
  }
} catch (...) {
  base::rethrow_as_error();
}

ImportStats Importer::stats() const try {
  return internal::buffers_of(internal::Pimpl::live(device_, "Importer")).imports.stats();
} catch (...) {
  base::rethrow_as_error();
}

}  // namespace npu
