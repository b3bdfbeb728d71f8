// ZE_extension_graph's table. A slot newer than the version that the driver acts as ends the
// process with a message: an older driver's table is shorter, and reading behind it is the client's
// error. Null would suggest that clients may test such slots.
#include "graph_api.hpp"

#include <cstdio>
#include <cstdlib>

#include "abi/entry.hpp"
#include "base/version.hpp"
#include "graph/compiler.hpp"

#include "extensions.hpp"

namespace softnpu {
namespace {

template <Name kName, uint32_t kSince, auto kFunction>
struct Slot;
template <Name kName, uint32_t kSince, class... Args, ze_result_t (*kFunction)(Args...)>
struct Slot<kName, kSince, kFunction> {
  static auto entry() {
    return graph_has(kSince) ? &ExtensionEntry<kName, kFunction>::call : &misread;
  }
  static ze_result_t ZE_APICALL misread(Args...) {
    std::fprintf(stderr,
                 "softnpu: %s was called, which came with graph extension 1.%u; this driver "
                 "advertises 1.%u, whose table ends before it\n",
                 kName.text, kSince, graph_minor());
    std::abort();
  }
};

}  // namespace

void* graph_table() {
  using namespace graph_api;
  prepare_compiler();
  static ze_graph_dditable_ext_t table = {
      .pfnCreate = Slot<"pfnCreate", 0, &create>::entry(),
      .pfnDestroy = Slot<"pfnDestroy", 0, &destroy>::entry(),
      .pfnGetProperties = Slot<"pfnGetProperties", 0, &get_properties>::entry(),
      .pfnGetArgumentProperties =
          Slot<"pfnGetArgumentProperties", 0, &get_argument_properties>::entry(),
      .pfnSetArgumentValue = Slot<"pfnSetArgumentValue", 0, &set_argument_value>::entry(),
      .pfnAppendGraphInitialize = Slot<"pfnAppendGraphInitialize", 0, &append_initialize>::entry(),
      .pfnAppendGraphExecute = Slot<"pfnAppendGraphExecute", 0, &append_execute>::entry(),
      .pfnGetNativeBinary = Slot<"pfnGetNativeBinary", 0, &get_native_binary>::entry(),
      .pfnDeviceGetGraphProperties =
          Slot<"pfnDeviceGetGraphProperties", 0, &device_get_graph_properties>::entry(),
      .pfnGraphGetArgumentMetadata =
          Slot<"pfnGraphGetArgumentMetadata", 1, &get_argument_metadata>::entry(),
      .pfnGetArgumentProperties2 =
          Slot<"pfnGetArgumentProperties2", 1, &get_argument_properties2>::entry(),
      .pfnGetArgumentProperties3 =
          Slot<"pfnGetArgumentProperties3", 2, &get_argument_properties3>::entry(),
      .pfnQueryNetworkCreate = Slot<"pfnQueryNetworkCreate", 3, &query_network_create>::entry(),
      .pfnQueryNetworkDestroy = Slot<"pfnQueryNetworkDestroy", 3, &query_network_destroy>::entry(),
      .pfnQueryNetworkGetSupportedLayers = Slot<"pfnQueryNetworkGetSupportedLayers", 3,
                                                &query_network_get_supported_layers>::entry(),
      .pfnBuildLogGetString = Slot<"pfnBuildLogGetString", 4, &build_log_get_string>::entry(),
      .pfnCreate2 = Slot<"pfnCreate2", 5, &create2>::entry(),
      .pfnQueryNetworkCreate2 = Slot<"pfnQueryNetworkCreate2", 5, &query_network_create2>::entry(),
      .pfnQueryContextMemory = Slot<"pfnQueryContextMemory", 5, &query_context_memory>::entry(),
      .pfnDeviceGetGraphProperties2 =
          Slot<"pfnDeviceGetGraphProperties2", 6, &device_get_graph_properties2>::entry(),
      .pfnGetNativeBinary2 = Slot<"pfnGetNativeBinary2", 7, &get_native_binary2>::entry(),
      .pfnGetProperties2 = Slot<"pfnGetProperties2", 8, &get_properties2>::entry(),
      .pfnGraphInitialize = Slot<"pfnGraphInitialize", 8, &initialize>::entry(),
      .pfnCompilerGetSupportedOptions =
          Slot<"pfnCompilerGetSupportedOptions", 11, &compiler_get_supported_options>::entry(),
      .pfnCompilerIsOptionSupported =
          Slot<"pfnCompilerIsOptionSupported", 11, &compiler_is_option_supported>::entry(),
      .pfnCreate3 = Slot<"pfnCreate3", 12, &create3>::entry(),
      .pfnGetProperties3 = Slot<"pfnGetProperties3", 12, &get_properties3>::entry(),
      .pfnBuildLogGetString2 = Slot<"pfnBuildLogGetString2", 12, &build_log_get_string2>::entry(),
      .pfnBuildLogDestroy = Slot<"pfnBuildLogDestroy", 12, &build_log_destroy>::entry(),
      .pfnSetArgumentValue2 = Slot<"pfnSetArgumentValue2", 15, &set_argument_value2>::entry(),
      .pfnEvict = Slot<"pfnEvict", 16, &evict>::entry(),
  };
  return &table;
}

}  // namespace softnpu
