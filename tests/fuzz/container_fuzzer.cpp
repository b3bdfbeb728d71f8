// A blob file: its container, the sections of its ELF, and the notes of what it was built with.

#include <npucore/error.hpp>

#include "compile/preflight.hpp"
#include "ir/blob_container.hpp"
#include "ir/elf_outputs.hpp"
#include "ir/elf_sections.hpp"

#include "container_parts.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto bytes = std::as_bytes(std::span(data, size));
  try {
    const auto view = npu::ir::open_blob(bytes, "fuzz.blob");
    npu::ir::elf_sections(view.native, "fuzz.blob");
    npu::ir::elf_output_shapes(view.native, "fuzz.blob");
    npu::ir::describe(npu::internal::built_with(view, "fuzz.blob"));
  } catch (const npu::Error&) {
    // A refusal in words is what hostile files get.
  }
  return 0;
}

extern "C" std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size,
                                               std::size_t max_size, unsigned seed) {
  npu::fuzz::Random random(seed);
  return npu::fuzz::give_back(npu::fuzz::mutate_container(npu::fuzz::as_text(data, size), random),
                              data, size, max_size);
}
