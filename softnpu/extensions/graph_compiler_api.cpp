// Queries about the device's compiler.
#include <algorithm>
#include <cstring>

#include "abi/handles.hpp"
#include "base/trace.hpp"
#include "base/version.hpp"
#include "graph/build_flags.hpp"
#include "graph/compiler.hpp"
#include "graph/disk_cache.hpp"
#include "machine/context.hpp"
#include "machine/device.hpp"
#include "machine/engine.hpp"

#include "build_log.hpp"
#include "graph_api.hpp"
#include "real_compiler.hpp"

namespace softnpu::graph_api {
namespace {

struct QueryNetwork : Counted<Kind::kQueryNetwork> {
  std::string layers;  // <name> for each
};

template <class Properties>
void fill_common(Properties& properties) {
  properties.graphExtensionVersion =
      static_cast<ze_graph_ext_version_t>(ze_npu_version(1, graph_minor()));
  properties.compilerVersion = {compiler_version().major, compiler_version().minor};
  // Like Intel's driver with a compiler: it takes native binaries, but does not list them.
  properties.graphFormatsSupported = ZE_GRAPH_FORMAT_NGRAPH_LITE;
  properties.maxOVOpsetVersionSupported = kNewestOpset;
}

// Clients call twice: first without a buffer, for the size.
void copy_out(const std::string& text, size_t* size, char* buffer) {
  require(size != nullptr, ZE_RESULT_ERROR_INVALID_NULL_POINTER);
  const size_t full = text.size() + 1;
  if (buffer == nullptr || *size == 0) {
    *size = full;
    return;
  }
  *size = std::min(*size, full);
  std::memcpy(buffer, text.c_str(), *size);
}

ze_graph_memory_query_t cache_memory() {
  const DiskCache* const cache = driver_cache();
  if (cache == nullptr) return {0, 0};
  return {cache->limit_bytes(), cache->used_bytes()};
}

void check_options_type(ze_npu_options_type_t type) {
  require(type == ZE_NPU_COMPILER_OPTIONS || type == ZE_NPU_DRIVER_OPTIONS,
          ZE_RESULT_ERROR_INVALID_ENUMERATION);
}

}  // namespace

ze_result_t device_get_graph_properties(ze_device_handle_t device,
                                        ze_device_graph_properties_t* properties) {
  check_device(device);
  require(properties != nullptr, ZE_RESULT_ERROR_INVALID_NULL_POINTER);
  fill_common(*properties);
  return ZE_RESULT_SUCCESS;
}

ze_result_t device_get_graph_properties2(ze_device_handle_t device,
                                         ze_device_graph_properties_2_t* properties) {
  check_device(device);
  require(properties != nullptr, ZE_RESULT_ERROR_INVALID_NULL_POINTER);
  fill_common(*properties);
  properties->elfVersion = {kBlobFormatVersion, 0, 0};
  const RuntimeVersion runtime = runtime_version();
  properties->runtimeVersion = {runtime.major, runtime.minor, runtime.patch};
  return ZE_RESULT_SUCCESS;
}

ze_result_t query_network_create2(ze_context_handle_t context, ze_device_handle_t device,
                                  const ze_graph_desc_2_t* desc,
                                  ze_graph_query_network_handle_t* query) {
  object_of<Context>(context);
  check_device(device);
  require(!Engine::instance().stopped(), ZE_RESULT_ERROR_UNINITIALIZED);  // as OpenVINO may be
  require(desc != nullptr && query != nullptr, ZE_RESULT_ERROR_INVALID_NULL_POINTER);
  auto own = std::make_unique<QueryNetwork>();
  try {
    const auto real_layers = layers_of_real_compiler(*desc);
    own->layers = list_supported_layers(*desc);
    if (real_layers) {
      own->layers = *real_layers;
    }
  } catch (const Failure& failure) {
    remember(failure.what());
    throw;
  }
  hand_out(std::move(own), query);
  return ZE_RESULT_SUCCESS;
}

ze_result_t query_network_create(ze_context_handle_t context, ze_device_handle_t device,
                                 const ze_graph_desc_t* desc,
                                 ze_graph_query_network_handle_t* query) {
  require(desc != nullptr, ZE_RESULT_ERROR_INVALID_NULL_POINTER);
  const ze_graph_desc_2_t second{desc->stype,       desc->pNext,  desc->format,
                                 desc->inputSize,   desc->pInput, desc->pBuildFlags,
                                 ZE_GRAPH_FLAG_NONE};
  return query_network_create2(context, device, &second, query);
}

ze_result_t query_network_destroy(ze_graph_query_network_handle_t query) {
  take_back<QueryNetwork>(query);
  return ZE_RESULT_SUCCESS;
}

ze_result_t query_network_get_supported_layers(ze_graph_query_network_handle_t query, size_t* size,
                                               char* layers) {
  copy_out(object_of<QueryNetwork>(query).layers, size, layers);
  return ZE_RESULT_SUCCESS;
}

ze_result_t query_context_memory(ze_context_handle_t context, ze_graph_memory_query_type_t type,
                                 ze_graph_memory_query_t* query) {
  auto& owner = object_of<Context>(context);
  require(query != nullptr, ZE_RESULT_ERROR_INVALID_NULL_POINTER);
  switch (type) {
    case ZE_GRAPH_QUERY_MEMORY_DDR:
      *query = {system_memory_bytes(), owner.allocations().total_bytes()};
      return ZE_RESULT_SUCCESS;
    case ZE_GRAPH_QUERY_DRIVER_CACHE:
    case ZE_GRAPH_QUERY_PROGRAM_CACHE:
      if (!graph_has(10)) break;
      *query = cache_memory();
      return ZE_RESULT_SUCCESS;
  }
  throw Failure(ZE_RESULT_ERROR_INVALID_ARGUMENT);
}

ze_result_t compiler_get_supported_options(ze_device_handle_t device, ze_npu_options_type_t type,
                                           size_t* size, char* options) {
  check_device(device);
  check_options_type(type);
  require(size != nullptr, ZE_RESULT_ERROR_INVALID_NULL_POINTER);
  if (type == ZE_NPU_DRIVER_OPTIONS) {
    *size = 0;
  } else {
    copy_out(supported_options(compiler_version(), platform_number()), size, options);
  }
  return ZE_RESULT_SUCCESS;
}

ze_result_t compiler_is_option_supported(ze_device_handle_t device, ze_npu_options_type_t type,
                                         const char* option, const char* value) {
  check_device(device);
  check_options_type(type);
  require(option != nullptr, ZE_RESULT_ERROR_INVALID_NULL_POINTER);
  trace::note_text("option", option);
  const bool supported =
      type == ZE_NPU_COMPILER_OPTIONS && is_option_supported(option, value != nullptr ? value : "",
                                                             compiler_version(), platform_number());
  require(supported, ZE_RESULT_ERROR_UNSUPPORTED_FEATURE);
  return ZE_RESULT_SUCCESS;
}

}  // namespace softnpu::graph_api
