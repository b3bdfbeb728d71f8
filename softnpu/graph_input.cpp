#include "graph_input.hpp"

#include "failure.hpp"
#include "ir_buffer.hpp"
#include "version.hpp"
#include "weightless.hpp"

namespace softnpu {

std::span<const std::byte> input_of(const ze_graph_desc_2_t& desc) {
  require(desc.pInput != nullptr, ZE_RESULT_ERROR_INVALID_NULL_POINTER);
  require(desc.inputSize != 0, ZE_RESULT_ERROR_INVALID_SIZE);
  return {reinterpret_cast<const std::byte*>(desc.pInput), desc.inputSize};
}

// ZE_GRAPH_FLAG_ENABLE_PROFILING is another way to say PERF_COUNT="YES"; the binary keeps it.
std::string flags_text_of(const ze_graph_desc_2_t& desc) {
  std::string text = desc.pBuildFlags != nullptr ? desc.pBuildFlags : "";
  if ((desc.flags & ZE_GRAPH_FLAG_ENABLE_PROFILING) != 0) text += " --config PERF_COUNT=\"YES\"";
  return text;
}

std::shared_ptr<const Image> image_of_ir(std::span<const std::byte> input, const std::string& text,
                                         const BuildFlags& flags) {
  if (flags.weights_by_address()) {
    const WeightlessIr ir = read_weightless(input, compiler_version());
    return Image::from_source({text, ir.xml, ir.weights});
  }
  const IrBuffer ir = read_ir_buffer(input, compiler_version());
  return Image::from_source({text, ir.xml, Weights(ir.weights)});
}

}  // namespace softnpu
