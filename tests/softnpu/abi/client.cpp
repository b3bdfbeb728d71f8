#include "client.hpp"

#include <cstring>
#include <stdexcept>

namespace softnpu_test {
namespace {

void check(ze_result_t result, const char* what) {
  if (result != ZE_RESULT_SUCCESS) {
    throw std::runtime_error(std::string(what) + " failed with " + std::to_string(result));
  }
}

template <class T>
void put(std::string& buffer, T value) {
  buffer.append(reinterpret_cast<const char*>(&value), sizeof value);
}

}  // namespace

std::string sample_weights() {
  std::string bytes;
  for (const float value : {1.0f, 2.0f, 3.0f, 4.0f}) put(bytes, value);
  return bytes;
}

std::string sample_ir() {
  return R"(<?xml version="1.0"?>
<net name="sample" version="11">
  <layers>
    <layer id="0" name="x" type="Parameter" version="opset1">
      <data shape="1,4" element_type="f32"/>
      <output><port id="0" precision="FP32" names="x_tensor"><dim>1</dim><dim>4</dim></port></output>
    </layer>
    <layer id="1" name="bias" type="Const" version="opset1">
      <data element_type="f32" shape="1, 4" offset="0" size="16"/>
      <output><port id="0" precision="FP32"><dim>1</dim><dim>4</dim></port></output>
    </layer>
    <layer id="2" name="sum" type="Add" version="opset1">
      <data auto_broadcast="numpy"/>
      <input>
        <port id="0" precision="FP32"><dim>1</dim><dim>4</dim></port>
        <port id="1" precision="FP32"><dim>1</dim><dim>4</dim></port>
      </input>
      <output><port id="2" precision="FP32" names="y_tensor"><dim>1</dim><dim>4</dim></port></output>
    </layer>
    <layer id="3" name="y" type="Result" version="opset1">
      <input><port id="0" precision="FP32"><dim>1</dim><dim>4</dim></port></input>
    </layer>
  </layers>
  <edges>
    <edge from-layer="0" from-port="0" to-layer="2" to-port="0"/>
    <edge from-layer="1" from-port="0" to-layer="2" to-port="1"/>
    <edge from-layer="2" from-port="2" to-layer="3" to-port="0"/>
  </edges>
</net>
)";
}

std::string stateful_ir() {
  return R"(<?xml version="1.0"?>
<net name="stateful" version="11">
  <layers>
    <layer id="0" name="x" type="Parameter" version="opset1">
      <data shape="1,4" element_type="f32"/>
      <output><port id="0" precision="FP32"><dim>1</dim><dim>4</dim></port></output>
    </layer>
    <layer id="1" name="read" type="ReadValue" version="opset6">
      <data variable_id="sum" variable_type="f32" variable_shape="1,4"/>
      <input><port id="0" precision="FP32"><dim>1</dim><dim>4</dim></port></input>
      <output><port id="1" precision="FP32"><dim>1</dim><dim>4</dim></port></output>
    </layer>
    <layer id="2" name="add" type="Add" version="opset1">
      <data auto_broadcast="numpy"/>
      <input>
        <port id="0" precision="FP32"><dim>1</dim><dim>4</dim></port>
        <port id="1" precision="FP32"><dim>1</dim><dim>4</dim></port>
      </input>
      <output><port id="2" precision="FP32"><dim>1</dim><dim>4</dim></port></output>
    </layer>
    <layer id="3" name="write" type="Assign" version="opset6">
      <data variable_id="sum"/>
      <input><port id="0" precision="FP32"><dim>1</dim><dim>4</dim></port></input>
      <output><port id="1" precision="FP32"><dim>1</dim><dim>4</dim></port></output>
    </layer>
    <layer id="4" name="y" type="Result" version="opset1">
      <input><port id="0" precision="FP32"><dim>1</dim><dim>4</dim></port></input>
    </layer>
  </layers>
  <edges>
    <edge from-layer="0" from-port="0" to-layer="1" to-port="0"/>
    <edge from-layer="1" from-port="1" to-layer="2" to-port="0"/>
    <edge from-layer="0" from-port="0" to-layer="2" to-port="1"/>
    <edge from-layer="2" from-port="2" to-layer="3" to-port="0"/>
    <edge from-layer="2" from-port="2" to-layer="4" to-port="0"/>
  </edges>
</net>
)";
}

std::string ir_buffer(const std::string& xml, const std::string& weights,
                      ze_graph_compiler_version_info_t compiler) {
  std::string buffer;
  put<uint16_t>(buffer, compiler.major);
  put<uint16_t>(buffer, compiler.minor);
  put<uint32_t>(buffer, 2);
  put<uint64_t>(buffer, xml.size());
  buffer += xml;
  put<uint64_t>(buffer, weights.size());
  return buffer + weights;
}

std::string replaced(std::string text, const std::string& what, const std::string& with) {
  const size_t at = text.find(what);
  if (at == std::string::npos) throw std::runtime_error("there is no " + what);
  return text.replace(at, what.size(), with);
}

std::string pointer_to(const void* address, size_t bytes) {
  return "offset=\"0\" size=\"0\"/><rt_info><attribute name=\"WeightsPointerAttribute\" mp=\"" +
         std::to_string(reinterpret_cast<uintptr_t>(address)) + "\" ms=\"" + std::to_string(bytes) +
         "\"/></rt_info>";
}

std::string weightless_sample(const void* address) {
  return weightless_buffer(
      replaced(sample_ir(), "offset=\"0\" size=\"16\"/>", pointer_to(address, 16)));
}

std::string weightless_buffer(const std::string& xml) {
  std::string buffer;
  for (const uint64_t number :
       {uint64_t{48}, uint64_t{4}, uint64_t{52}, uint64_t{0}, uint64_t{52}, uint64_t{xml.size()}}) {
    put(buffer, number);
  }
  put<uint16_t>(buffer, 8);
  put<uint16_t>(buffer, 4);
  return buffer + xml;
}

Client::Client() {
  check(zeInit(0), "zeInit");
  uint32_t count = 1;
  check(zeDriverGet(&count, &driver), "zeDriverGet");
  count = 1;
  check(zeDeviceGet(driver, &count, &device), "zeDeviceGet");
  const ze_context_desc_t desc{ZE_STRUCTURE_TYPE_CONTEXT_DESC, nullptr, 0};
  check(zeContextCreate(driver, &desc, &context), "zeContextCreate");
  void* table = nullptr;
  check(zeDriverGetExtensionFunctionAddress(driver, ZE_GRAPH_EXT_NAME, &table), "the graph table");
  graphs = static_cast<ze_graph_dditable_ext_t*>(table);
}

Client::~Client() {
  zeContextDestroy(context);
}

bool Client::has(uint32_t minor) const {
  ze_device_graph_properties_t properties{ZE_STRUCTURE_TYPE_DEVICE_GRAPH_PROPERTIES};
  check(graphs->pfnDeviceGetGraphProperties(device, &properties), "pfnDeviceGetGraphProperties");
  return ze_npu_version_has(properties.graphExtensionVersion, 1, minor);
}

ze_result_t Client::create(std::string_view input, ze_graph_format_t format,
                           ze_graph_handle_t* graph, const char* build_flags,
                           ze_graph_flags_t flags, void* next) {
  const ze_graph_desc_2_t desc{ZE_STRUCTURE_TYPE_GRAPH_DESC_2,
                               next,
                               format,
                               input.size(),
                               reinterpret_cast<const uint8_t*>(input.data()),
                               build_flags,
                               flags};
  if (has(12)) return create_with_log(desc, graph);
  const ze_result_t result = graphs->pfnCreate2(context, device, &desc, graph);
  uint32_t size = 0;
  graphs->pfnBuildLogGetString(nullptr, &size, nullptr);
  log.resize(size);
  graphs->pfnBuildLogGetString(nullptr, &size, log.data());
  log = log.c_str();
  return result;
}

ze_result_t Client::create_with_log(const ze_graph_desc_2_t& desc, ze_graph_handle_t* graph) {
  ze_graph_build_log_handle_t handle = nullptr;
  const ze_result_t result = graphs->pfnCreate3(context, device, &desc, graph, &handle);
  uint32_t size = 0;
  graphs->pfnBuildLogGetString2(handle, &size, nullptr);
  log.resize(size);
  graphs->pfnBuildLogGetString2(handle, &size, log.data());
  log = log.c_str();
  graphs->pfnBuildLogDestroy(handle);
  return result;
}

std::string Client::supported_layers(std::string_view buffer, const char* build_flags) {
  const ze_graph_desc_2_t desc{ZE_STRUCTURE_TYPE_GRAPH_DESC_2,
                               nullptr,
                               ZE_GRAPH_FORMAT_NGRAPH_LITE,
                               buffer.size(),
                               reinterpret_cast<const uint8_t*>(buffer.data()),
                               build_flags,
                               0};
  ze_graph_query_network_handle_t query = nullptr;
  check(graphs->pfnQueryNetworkCreate2(context, device, &desc, &query), "pfnQueryNetworkCreate2");
  size_t size = 0;
  graphs->pfnQueryNetworkGetSupportedLayers(query, &size, nullptr);
  std::string layers(size, ' ');
  graphs->pfnQueryNetworkGetSupportedLayers(query, &size, layers.data());
  graphs->pfnQueryNetworkDestroy(query);
  return layers;
}

std::string Client::sample_binary() {
  ze_graph_handle_t graph = nullptr;
  check(create(ir_buffer(sample_ir(), sample_weights()), ZE_GRAPH_FORMAT_NGRAPH_LITE, &graph),
        "compiling the sample");
  size_t size = 0;
  check(graphs->pfnGetNativeBinary(graph, &size, nullptr), "pfnGetNativeBinary");
  std::string binary(size, '\0');
  check(graphs->pfnGetNativeBinary(graph, &size, reinterpret_cast<uint8_t*>(binary.data())),
        "pfnGetNativeBinary");
  graphs->pfnDestroy(graph);
  return binary;
}

float* Client::allocate(size_t count) {
  const ze_host_mem_alloc_desc_t desc{ZE_STRUCTURE_TYPE_HOST_MEM_ALLOC_DESC, nullptr, 0};
  void* pointer = nullptr;
  check(zeMemAllocHost(context, &desc, count * sizeof(float), 64, &pointer), "zeMemAllocHost");
  return static_cast<float*>(pointer);
}

std::vector<float> Client::run(ze_graph_handle_t graph) {
  float* const input = allocate(4);
  std::vector<float> results = run_on(graph, input);
  zeMemFree(context, input);
  return results;
}

std::byte* Client::import(int fd, size_t bytes) {
  ze_external_memory_import_fd_t import{ZE_STRUCTURE_TYPE_EXTERNAL_MEMORY_IMPORT_FD, nullptr,
                                        ZE_EXTERNAL_MEMORY_TYPE_FLAG_DMA_BUF, fd};
  const ze_host_mem_alloc_desc_t desc{ZE_STRUCTURE_TYPE_HOST_MEM_ALLOC_DESC, &import, 0};
  void* pointer = nullptr;
  zeMemAllocHost(context, &desc, bytes, 0, &pointer);
  return static_cast<std::byte*>(pointer);
}

std::vector<float> Client::run_on(ze_graph_handle_t graph, float* input) {
  float* const output = allocate(4);
  for (int i = 0; i < 4; ++i) input[i] = 10.0f * static_cast<float>(i + 1);
  const ze_command_queue_desc_t queue_desc{ZE_STRUCTURE_TYPE_COMMAND_QUEUE_DESC};
  ze_command_queue_handle_t queue = nullptr;
  check(zeCommandQueueCreate(context, device, &queue_desc, &queue), "zeCommandQueueCreate");
  const ze_command_list_desc_t list_desc{ZE_STRUCTURE_TYPE_COMMAND_LIST_DESC};
  ze_command_list_handle_t list = nullptr;
  check(zeCommandListCreate(context, device, &list_desc, &list), "zeCommandListCreate");
  graphs->pfnSetArgumentValue(graph, 0, input);
  graphs->pfnSetArgumentValue(graph, 1, output);
  std::vector<float> results;
  if (graphs->pfnAppendGraphExecute(list, graph, nullptr, nullptr, 0, nullptr) ==
          ZE_RESULT_SUCCESS &&
      zeCommandListClose(list) == ZE_RESULT_SUCCESS &&
      zeCommandQueueExecuteCommandLists(queue, 1, &list, nullptr) == ZE_RESULT_SUCCESS &&
      zeCommandQueueSynchronize(queue, UINT64_MAX) == ZE_RESULT_SUCCESS) {
    results.assign(output, output + 4);
  }
  zeCommandListDestroy(list);
  zeCommandQueueDestroy(queue);
  zeMemFree(context, output);
  return results;
}

uint32_t Client::live_objects(std::string* names) {
  void* address = nullptr;
  check(zeDriverGetExtensionFunctionAddress(driver, "softnpuGetLiveObjects", &address),
        "softnpuGetLiveObjects");
  uint32_t count = 0;
  const char* text = nullptr;
  reinterpret_cast<ze_result_t (*)(uint32_t*, const char**)>(address)(&count, &text);
  if (names != nullptr) {
    *names = text;
  }
  return count;
}

}  // namespace softnpu_test
