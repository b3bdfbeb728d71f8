#include "npucore/importer.hpp"

#include "core/device_state.hpp"
#include "core/tensor_maker.hpp"

namespace npu {

Importer::Importer(const Device& device) : device_(device) {}

Tensor Importer::import(int fd) {
  auto allocation = device_.state()->imports.import(device_.state(), device_.state()->ze(), fd);
  return internal::TensorMaker::make(std::move(allocation));
}

ImportStats Importer::stats() const {
  return device_.state()->imports.stats();
}

}  // namespace npu
