// The description beside a blob: what is read, written and read again is the same.

#include <cstdio>
#include <cstdlib>
#include <stdexcept>

#include "ir/blob_description.hpp"

#include "xml_mutator.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  npu::ir::BlobDescription description;
  try {
    description = npu::ir::read_description(npu::fuzz::as_text(data, size));
  } catch (const std::invalid_argument&) {
    return 0;
  }
  const auto text = npu::ir::write_description(description, 1);
  if (npu::ir::write_description(npu::ir::read_description(text), 1) != text) {
    std::fprintf(stderr, "another description comes back from: %s\n", text.c_str());
    std::abort();
  }
  return 0;
}

extern "C" std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size,
                                               std::size_t max_size, unsigned seed) {
  npu::fuzz::Random random(seed);
  return npu::fuzz::give_back(npu::fuzz::mutate_xml(npu::fuzz::as_text(data, size), random), data,
                              size, max_size);
}
