#include "npucore/importer.hpp"

#include "core/device_state.hpp"
#include "core/tensor_maker.hpp"
#include "npucore/error.hpp"

namespace npu {

Importer::Importer(const Device& device) : device_(device) {}

Tensor Importer::import(int fd) {
  auto allocation = device_.state()->imports.import(device_.state(), device_.state()->ze(), fd);
  return internal::TensorMaker::make(std::move(allocation));
}

KeptImport Importer::keep(int fd) {
  return KeptImport(device_.state()->imports.keep(device_.state(), fd));
}

Tensor KeptImport::tensor() const {
  if (!buffer_) throw Error(ErrorCode::kInvalidArgument, "KeptImport::tensor: no buffer is kept");
  return internal::TensorMaker::make(buffer_->device->imports.import(*buffer_));
}

ImportStats Importer::stats() const {
  return device_.state()->imports.stats();
}

}  // namespace npu
