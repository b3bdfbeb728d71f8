#include "graph_input.hpp"

#include <openvino/core/version.hpp>

#include "base/config.hpp"
#include "base/failure.hpp"
#include "base/trace.hpp"
#include "base/version.hpp"

#include "disk_cache.hpp"
#include "ir_buffer.hpp"
#include "weightless.hpp"

namespace softnpu {
namespace {

const ze_graph_input_hash_t* input_hash_of(const ze_graph_desc_2_t& desc) {
  const auto* const first = static_cast<const ze_graph_input_hash_t*>(desc.pNext);
  const bool is_hash =
      graph_has(14) && first != nullptr && first->stype == ZE_STRUCTURE_TYPE_GRAPH_INPUT_HASH;
  return is_hash ? first : nullptr;
}

}  // namespace

std::span<const std::byte> input_of(const ze_graph_desc_2_t& desc) {
  require(desc.pInput != nullptr, ZE_RESULT_ERROR_INVALID_NULL_POINTER);
  require(desc.inputSize != 0, ZE_RESULT_ERROR_INVALID_SIZE);
  return {reinterpret_cast<const std::byte*>(desc.pInput), desc.inputSize};
}

// Writes ZE_GRAPH_FLAG_ENABLE_PROFILING as PERF_COUNT="YES", so that the binary keeps it. Compilers
// take one --config.
std::string flags_text_of(const ze_graph_desc_2_t& desc) {
  std::string text = desc.pBuildFlags != nullptr ? desc.pBuildFlags : "";
  if ((desc.flags & ZE_GRAPH_FLAG_ENABLE_PROFILING) != 0) {
    text += text.find("--config") == std::string::npos ? " --config" : "";
    text += " PERF_COUNT=\"YES\"";
  }
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

std::optional<std::string> cache_key_of(const ze_graph_desc_2_t& desc, const std::string& text) {
  const auto* const hash = input_hash_of(desc);
  if (hash != nullptr) {
    trace::note("input_hash", hash->hash);
  }
  if (driver_cache() == nullptr || (desc.flags & ZE_GRAPH_FLAG_DISABLE_CACHING) != 0) {
    return std::nullopt;
  }
  CacheKey key;
  key.add(kDriverVersion)
      .add(config().platform->platform)
      .add(kBlobFormatVersion)
      .add(std::string(ov::get_openvino_version().buildNumber))
      .add(compiler_version().text())
      .add(runtime_version().text())
      .add(text)
      .add(desc.flags)
      .add(uint64_t{hash != nullptr});
  if (hash != nullptr) {
    key.add(hash->hash);
  } else {
    key.add(input_of(desc));
  }
  return key.text();
}

}  // namespace softnpu
