#include "npucore/importer.hpp"

#include "core/device_state.hpp"

namespace npu {

Importer::Importer(const Device& device) : device_(device) {}

Tensor Importer::import(int fd) {
  auto allocation = device_.state()->imports.import(device_.state(), fd);
  const std::size_t size_bytes = allocation->size_bytes;
  return {std::move(allocation), 0, size_bytes};
}

ImportStats Importer::stats() const {
  return device_.state()->imports.stats();
}

}  // namespace npu
