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
struct TableSlot;
template <Name kName, uint32_t kSince, class... Args, ze_result_t (*kFunction)(Args...)>
struct TableSlot<kName, kSince, kFunction> {
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
      .pfnCreate = TableSlot<"pfnCreate", 0, &create>::entry(),
      .pfnDestroy = TableSlot<"pfnDestroy", 0, &destroy>::entry(),
      .pfnGetProperties = TableSlot<"pfnGetProperties", 0, &get_properties>::entry(),
      .pfnGetArgumentProperties =
          TableSlot<"pfnGetArgumentProperties", 0, &get_argument_properties>::entry(),
      .pfnSetArgumentValue = TableSlot<"pfnSetArgumentValue", 0, &set_argument_value>::entry(),
      .pfnAppendGraphInitialize =
          TableSlot<"pfnAppendGraphInitialize", 0, &append_initialize>::entry(),
      .pfnAppendGraphExecute = TableSlot<"pfnAppendGraphExecute", 0, &append_execute>::entry(),
      .pfnGetNativeBinary = TableSlot<"pfnGetNativeBinary", 0, &get_native_binary>::entry(),
      .pfnDeviceGetGraphProperties =
          TableSlot<"pfnDeviceGetGraphProperties", 0, &device_get_graph_properties>::entry(),
      .pfnGraphGetArgumentMetadata =
          TableSlot<"pfnGraphGetArgumentMetadata", 1, &get_argument_metadata>::entry(),
      .pfnGetArgumentProperties2 =
          TableSlot<"pfnGetArgumentProperties2", 1, &get_argument_properties2>::entry(),
      .pfnGetArgumentProperties3 =
          TableSlot<"pfnGetArgumentProperties3", 2, &get_argument_properties3>::entry(),
      .pfnQueryNetworkCreate =
          TableSlot<"pfnQueryNetworkCreate", 3, &query_network_create>::entry(),
      .pfnQueryNetworkDestroy =
          TableSlot<"pfnQueryNetworkDestroy", 3, &query_network_destroy>::entry(),
      .pfnQueryNetworkGetSupportedLayers = TableSlot<"pfnQueryNetworkGetSupportedLayers", 3,
                                                     &query_network_get_supported_layers>::entry(),
      .pfnBuildLogGetString = TableSlot<"pfnBuildLogGetString", 4, &build_log_get_string>::entry(),
      .pfnCreate2 = TableSlot<"pfnCreate2", 5, &create2>::entry(),
      .pfnQueryNetworkCreate2 =
          TableSlot<"pfnQueryNetworkCreate2", 5, &query_network_create2>::entry(),
      .pfnQueryContextMemory =
          TableSlot<"pfnQueryContextMemory", 5, &query_context_memory>::entry(),
      .pfnDeviceGetGraphProperties2 =
          TableSlot<"pfnDeviceGetGraphProperties2", 6, &device_get_graph_properties2>::entry(),
      .pfnGetNativeBinary2 = TableSlot<"pfnGetNativeBinary2", 7, &get_native_binary2>::entry(),
      .pfnGetProperties2 = TableSlot<"pfnGetProperties2", 8, &get_properties2>::entry(),
      .pfnGraphInitialize = TableSlot<"pfnGraphInitialize", 8, &initialize>::entry(),
      .pfnCompilerGetSupportedOptions =
          TableSlot<"pfnCompilerGetSupportedOptions", 11, &compiler_get_supported_options>::entry(),
      .pfnCompilerIsOptionSupported =
          TableSlot<"pfnCompilerIsOptionSupported", 11, &compiler_is_option_supported>::entry(),
      .pfnCreate3 = TableSlot<"pfnCreate3", 12, &create3>::entry(),
      .pfnGetProperties3 = TableSlot<"pfnGetProperties3", 12, &get_properties3>::entry(),
      .pfnBuildLogGetString2 =
          TableSlot<"pfnBuildLogGetString2", 12, &build_log_get_string2>::entry(),
      .pfnBuildLogDestroy = TableSlot<"pfnBuildLogDestroy", 12, &build_log_destroy>::entry(),
      .pfnSetArgumentValue2 = TableSlot<"pfnSetArgumentValue2", 15, &set_argument_value2>::entry(),
      .pfnEvict = TableSlot<"pfnEvict", 16, &evict>::entry(),
  };
  return &table;
}

}  // namespace softnpu
