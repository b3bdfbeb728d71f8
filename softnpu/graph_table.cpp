// ZE_extension_graph's table, up to the version that the driver advertises; newer slots stay null.
#include "entry.hpp"
#include "extensions.hpp"
#include "graph_api.hpp"

namespace softnpu {

void* graph_table() {
  using namespace graph_api;
  static ze_graph_dditable_ext_t table = {
      .pfnCreate = &ExtensionEntry<"pfnCreate", &create>::call,
      .pfnDestroy = &ExtensionEntry<"pfnDestroy", &destroy>::call,
      .pfnGetProperties = &ExtensionEntry<"pfnGetProperties", &get_properties>::call,
      .pfnGetArgumentProperties =
          &ExtensionEntry<"pfnGetArgumentProperties", &get_argument_properties>::call,
      .pfnSetArgumentValue = &ExtensionEntry<"pfnSetArgumentValue", &set_argument_value>::call,
      .pfnAppendGraphInitialize =
          &ExtensionEntry<"pfnAppendGraphInitialize", &append_initialize>::call,
      .pfnAppendGraphExecute = &ExtensionEntry<"pfnAppendGraphExecute", &append_execute>::call,
      .pfnGetNativeBinary = &ExtensionEntry<"pfnGetNativeBinary", &get_native_binary>::call,
      .pfnDeviceGetGraphProperties =
          &ExtensionEntry<"pfnDeviceGetGraphProperties", &device_get_graph_properties>::call,
      .pfnGraphGetArgumentMetadata =
          &ExtensionEntry<"pfnGraphGetArgumentMetadata", &get_argument_metadata>::call,
      .pfnGetArgumentProperties2 =
          &ExtensionEntry<"pfnGetArgumentProperties2", &get_argument_properties2>::call,
      .pfnGetArgumentProperties3 =
          &ExtensionEntry<"pfnGetArgumentProperties3", &get_argument_properties3>::call,
      .pfnQueryNetworkCreate =
          &ExtensionEntry<"pfnQueryNetworkCreate", &query_network_create>::call,
      .pfnQueryNetworkDestroy =
          &ExtensionEntry<"pfnQueryNetworkDestroy", &query_network_destroy>::call,
      .pfnQueryNetworkGetSupportedLayers =
          &ExtensionEntry<"pfnQueryNetworkGetSupportedLayers",
                          &query_network_get_supported_layers>::call,
      .pfnBuildLogGetString = &ExtensionEntry<"pfnBuildLogGetString", &build_log_get_string>::call,
      .pfnCreate2 = &ExtensionEntry<"pfnCreate2", &create2>::call,
      .pfnQueryNetworkCreate2 =
          &ExtensionEntry<"pfnQueryNetworkCreate2", &query_network_create2>::call,
      .pfnQueryContextMemory =
          &ExtensionEntry<"pfnQueryContextMemory", &query_context_memory>::call,
      .pfnDeviceGetGraphProperties2 =
          &ExtensionEntry<"pfnDeviceGetGraphProperties2", &device_get_graph_properties2>::call,
      .pfnGetNativeBinary2 = &ExtensionEntry<"pfnGetNativeBinary2", &get_native_binary2>::call,
      .pfnGetProperties2 = &ExtensionEntry<"pfnGetProperties2", &get_properties2>::call,
      .pfnGraphInitialize = &ExtensionEntry<"pfnGraphInitialize", &initialize>::call,
      .pfnCompilerGetSupportedOptions =
          &ExtensionEntry<"pfnCompilerGetSupportedOptions", &compiler_get_supported_options>::call,
      .pfnCompilerIsOptionSupported =
          &ExtensionEntry<"pfnCompilerIsOptionSupported", &compiler_is_option_supported>::call,
      .pfnCreate3 = &ExtensionEntry<"pfnCreate3", &create3>::call,
      .pfnGetProperties3 = &ExtensionEntry<"pfnGetProperties3", &get_properties3>::call,
      .pfnBuildLogGetString2 =
          &ExtensionEntry<"pfnBuildLogGetString2", &build_log_get_string2>::call,
      .pfnBuildLogDestroy = &ExtensionEntry<"pfnBuildLogDestroy", &build_log_destroy>::call,
  };
  return &table;
}

}  // namespace softnpu
