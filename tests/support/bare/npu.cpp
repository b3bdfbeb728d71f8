#include "support/bare/npu.hpp"

#include <dlfcn.h>

#include <cstring>
#include <functional>
#include <ostream>
#include <sstream>
#include <stdexcept>

namespace {

constexpr std::pair<ze_result_t, const char*> kResultNames[] = {
    {ZE_RESULT_SUCCESS, "SUCCESS"},
    {ZE_RESULT_NOT_READY, "NOT_READY"},
    {ZE_RESULT_ERROR_DEVICE_LOST, "DEVICE_LOST"},
    {ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY, "OUT_OF_HOST_MEMORY"},
    {ZE_RESULT_ERROR_OUT_OF_DEVICE_MEMORY, "OUT_OF_DEVICE_MEMORY"},
    {ZE_RESULT_ERROR_MODULE_BUILD_FAILURE, "MODULE_BUILD_FAILURE"},
    {ZE_RESULT_ERROR_NOT_AVAILABLE, "NOT_AVAILABLE"},
    {ZE_RESULT_ERROR_UNINITIALIZED, "UNINITIALIZED"},
    {ZE_RESULT_ERROR_UNSUPPORTED_VERSION, "UNSUPPORTED_VERSION"},
    {ZE_RESULT_ERROR_UNSUPPORTED_FEATURE, "UNSUPPORTED_FEATURE"},
    {ZE_RESULT_ERROR_INVALID_ARGUMENT, "INVALID_ARGUMENT"},
    {ZE_RESULT_ERROR_INVALID_NULL_HANDLE, "INVALID_NULL_HANDLE"},
    {ZE_RESULT_ERROR_HANDLE_OBJECT_IN_USE, "HANDLE_OBJECT_IN_USE"},
    {ZE_RESULT_ERROR_INVALID_NULL_POINTER, "INVALID_NULL_POINTER"},
    {ZE_RESULT_ERROR_INVALID_SIZE, "INVALID_SIZE"},
    {ZE_RESULT_ERROR_UNSUPPORTED_SIZE, "UNSUPPORTED_SIZE"},
    {ZE_RESULT_ERROR_UNSUPPORTED_ALIGNMENT, "UNSUPPORTED_ALIGNMENT"},
    {ZE_RESULT_ERROR_INVALID_SYNCHRONIZATION_OBJECT, "INVALID_SYNCHRONIZATION_OBJECT"},
    {ZE_RESULT_ERROR_INVALID_ENUMERATION, "INVALID_ENUMERATION"},
    {ZE_RESULT_ERROR_UNSUPPORTED_ENUMERATION, "UNSUPPORTED_ENUMERATION"},
    {ZE_RESULT_ERROR_INVALID_NATIVE_BINARY, "INVALID_NATIVE_BINARY"},
    {ZE_RESULT_ERROR_UNKNOWN, "UNKNOWN"},
};

}  // namespace

void PrintTo(ze_result_t result, std::ostream* out) {
  for (const auto& [value, name] : kResultNames) {
    if (value == result) {
      *out << name;
      return;
    }
  }
  *out << "0x" << std::hex << static_cast<uint32_t>(result) << std::dec;
}

namespace bare {
namespace {

const ze_graph_dditable_ext_t* graph_table = nullptr;

// Fills a list with a call that is asked for the number first, then for the items.
template <class T, class Call>
std::vector<T> list_of(const char* name, const Call& call, T blank = {}) {
  uint32_t count = 0;
  require(call(&count, nullptr), name);
  std::vector<T> found(count, blank);
  require(call(&count, found.data()), name);
  return found;
}

// And one that fills a text.
template <class Size, class Call>
std::string text_of(const char* name, const Call& call) {
  Size size = 0;
  require(call(&size, nullptr), name);
  std::string text(size, '\0');
  if (size == 0) return text;
  require(call(&size, text.data()), name);
  return text;
}

std::vector<ze_driver_handle_t> drivers() {
  const auto init_drivers =
      reinterpret_cast<ze_npu_core_pfnInitDrivers_t>(loader_symbol("zeInitDrivers"));
  if (init_drivers != nullptr) {
    return list_of<ze_driver_handle_t>("zeInitDrivers", [&](uint32_t* count, auto found) {
      ze_npu_core_init_driver_type_desc_t desc{kZeNpuCoreStypeInitDriverTypeDesc, nullptr,
                                               kZeNpuCoreInitDriverTypeFlagNpu};
      return init_drivers(count, found, &desc);
    });
  }
  require(zeInit(ZE_INIT_FLAG_VPU_ONLY), "zeInit");
  return list_of<ze_driver_handle_t>("zeDriverGet", zeDriverGet);
}

std::map<std::string, uint32_t> extensions_of(ze_driver_handle_t driver) {
  std::map<std::string, uint32_t> versions;
  for (const auto& extension : list_of<ze_driver_extension_properties_t>(
           "zeDriverGetExtensionProperties", [&](uint32_t*count, auto found) {
             return zeDriverGetExtensionProperties(driver, count, found);
           })) {
    versions[extension.name] = extension.version;
  }
  return versions;
}

template <class Table>
void find_table(const Npu& npu, const char* name, const Table*& table) {
  if (npu.advertises(name)) {
    table = static_cast<const Table*>(npu.function(name));
  }
}

bool find_vpu(ze_driver_handle_t driver, Npu& npu) {
  for (ze_device_handle_t device :
       list_of<ze_device_handle_t>("zeDeviceGet", std::bind_front(zeDeviceGet, driver))) {
    npu.properties = {};
    npu.properties.stype = ZE_STRUCTURE_TYPE_DEVICE_PROPERTIES;
    require(zeDeviceGetProperties(device, &npu.properties), "zeDeviceGetProperties");
    if (npu.properties.type != ZE_DEVICE_TYPE_VPU) continue;
    npu.driver = driver;
    npu.device = device;
    return true;
  }
  return false;
}

template <class T>
void put(std::string& buffer, T value) {
  buffer.append(reinterpret_cast<const char*>(&value), sizeof value);
}

std::string precision(const npu::test::IrValue& port) {
  return npu::test::precision_of(port.type);
}

std::string layout(const npu::test::IrValue& port) {
  constexpr const char* kLayouts[] = {"**SCALAR**", "C", "NC", "CHW", "NCHW", "NCDHW"};
  return kLayouts[port.shape.size()];
}

// --NAME="0:a 1:b"
std::string build_flag(const std::string& name, const std::vector<npu::test::IrValue>& ports,
                       std::string (*said)(const npu::test::IrValue&)) {
  std::string text;
  for (size_t i = 0; i < ports.size(); ++i) {
    text += (i == 0 ? "" : " ") + std::to_string(i) + ":" + said(ports[i]);
  }
  return "--" + name + "=\"" + text + "\"";
}

}  // namespace

void require(ze_result_t result, const std::string& call) {
  if (result == ZE_RESULT_SUCCESS) return;
  std::ostringstream message;
  message << call << " returned ";
  PrintTo(result, &message);
  throw std::runtime_error(message.str());
}

void* loader_symbol(const char* name) {
  return dlsym(RTLD_DEFAULT, name);
}

ze_result_t ZE_APICALL destroy_graph(ze_graph_handle_t graph) {
  return graph_table->pfnDestroy(graph);
}

Npu::Npu() {
  for (ze_driver_handle_t found : drivers()) {
    extensions = extensions_of(found);
    if (advertises(ZE_GRAPH_EXT_NAME) && find_vpu(found, *this)) break;
  }
  if (device == nullptr) throw std::runtime_error("no driver with an NPU was found");
  ze_context_desc_t desc{ZE_STRUCTURE_TYPE_CONTEXT_DESC, nullptr, 0};
  require(zeContextCreate(driver, &desc, &context), "zeContextCreate");
  find_table(*this, ZE_GRAPH_EXT_NAME, graph);
  find_table(*this, ZE_PROFILING_DATA_EXT_NAME, profiling);
  find_table(*this, ZE_COMMAND_QUEUE_NPU_EXT_NAME, queue_ext);
  find_table(*this, ZE_CONTEXT_NPU_EXT_NAME, context_ext);
  graph_table = graph;
  ze_device_graph_properties_t about{ZE_STRUCTURE_TYPE_DEVICE_GRAPH_PROPERTIES};
  require(graph->pfnDeviceGetGraphProperties(device, &about), "pfnDeviceGetGraphProperties");
  compiler = about.compilerVersion;
}

bool Npu::graph_has(uint32_t minor) const {
  return ze_npu_version_has(extensions.at(ZE_GRAPH_EXT_NAME), 1, minor);
}

bool Npu::is_software() const {
  return std::string(properties.name).rfind("Software NPU", 0) == 0;
}

void* Npu::function(const char* name) const {
  void* address = nullptr;
  const ze_result_t found = zeDriverGetExtensionFunctionAddress(driver, name, &address);
  return found == ZE_RESULT_SUCCESS ? address : nullptr;
}

LiveObjects Npu::live_objects() const {
  using Count = ze_result_t(ZE_APICALL*)(uint32_t*, const char**);
  void* const address = function("softnpuGetLiveObjects");
  if (address == nullptr) return {};
  LiveObjects live{true, 0, ""};
  const char* text = "";
  require(reinterpret_cast<Count>(address)(&live.count, &text), "softnpuGetLiveObjects");
  live.text = text;
  return live;
}

Memory Npu::host_memory(size_t bytes) const {
  const ze_host_mem_alloc_desc_t desc{ZE_STRUCTURE_TYPE_HOST_MEM_ALLOC_DESC, nullptr, 0};
  void* data = nullptr;
  require(zeMemAllocHost(context, &desc, bytes, kPageBytes, &data), "zeMemAllocHost");
  std::memset(data, 0, bytes);
  return {context, data};
}

Queue Npu::make_queue(ze_command_queue_priority_t priority) const {
  ze_command_queue_desc_t desc{ZE_STRUCTURE_TYPE_COMMAND_QUEUE_DESC};
  desc.priority = priority;
  Queue queue;
  require(zeCommandQueueCreate(context, device, &desc, queue.out()), "zeCommandQueueCreate");
  return queue;
}

List Npu::make_list(const void* next) const {
  const ze_command_list_desc_t desc{ZE_STRUCTURE_TYPE_COMMAND_LIST_DESC, next, 0, 0};
  List list;
  require(zeCommandListCreate(context, device, &desc, list.out()), "zeCommandListCreate");
  return list;
}

List Npu::make_immediate_list(ze_command_queue_mode_t mode) const {
  ze_command_queue_desc_t desc{ZE_STRUCTURE_TYPE_COMMAND_QUEUE_DESC};
  desc.mode = mode;
  List list;
  require(zeCommandListCreateImmediate(context, device, &desc, list.out()),
          "zeCommandListCreateImmediate");
  return list;
}

ze_result_t Npu::create(std::string_view input, ze_graph_format_t format, Graph& made,
                        const char* build_flags, ze_graph_flags_t flags, const void* next) {
  const ze_graph_desc_2_t desc = graph_desc(format, input, build_flags, flags, next);
  if (!graph_has(12)) {
    const ze_result_t result = graph->pfnCreate2(context, device, &desc, made.out());
    log = last_log();
    return result;
  }
  ze_graph_build_log_handle_t handle = nullptr;
  const ze_result_t result = graph->pfnCreate3(context, device, &desc, made.out(), &handle);
  log.clear();
  if (handle == nullptr) return result;
  const std::string text = text_of<uint32_t>(
      "pfnBuildLogGetString2",
      [&](uint32_t* size, char* out) { return graph->pfnBuildLogGetString2(handle, size, out); });
  log = text.c_str();
  graph->pfnBuildLogDestroy(handle);
  return result;
}

std::string Npu::last_log() const {
  const std::string text = text_of<uint32_t>(
      "pfnBuildLogGetString",
      [&](uint32_t* size, char* out) { return graph->pfnBuildLogGetString(nullptr, size, out); });
  return text.c_str();
}

Graph Npu::compile(const npu::test::IrWriter& ir, ze_graph_flags_t flags,
                   const std::string& config) {
  const std::string buffer = classic_buffer(compiler, ir.xml(), ir.weights());
  const std::string options = build_flags_of(ir) + (config.empty() ? "" : " --config " + config);
  Graph made;
  const ze_result_t result =
      create(buffer, ZE_GRAPH_FORMAT_NGRAPH_LITE, made, options.c_str(), flags);
  require(result, "compiling (" + log + ")");
  initialise(made);
  return made;
}

void Npu::initialise(const Graph& made) const {
  if (graph_has(8)) return require(graph->pfnGraphInitialize(made.get()), "pfnGraphInitialize");
  const List list = make_list();
  require(graph->pfnAppendGraphInitialize(list.get(), made.get(), nullptr, 0, nullptr),
          "pfnAppendGraphInitialize");
  require(zeCommandListClose(list.get()), "zeCommandListClose");
  require(run(make_queue(), list), "initialising");
}

std::string Npu::native_binary(const Graph& made) const {
  return text_of<size_t>("pfnGetNativeBinary", [&](size_t* size, char* out) {
    return graph->pfnGetNativeBinary(made.get(), size, reinterpret_cast<uint8_t*>(out));
  });
}

std::string Npu::supported_layers(std::string_view input, const char* build_flags) const {
  const ze_graph_desc_2_t desc = graph_desc(ZE_GRAPH_FORMAT_NGRAPH_LITE, input, build_flags);
  ze_graph_query_network_handle_t query = nullptr;
  require(graph->pfnQueryNetworkCreate2(context, device, &desc, &query), "pfnQueryNetworkCreate2");
  const auto list = graph->pfnQueryNetworkGetSupportedLayers;
  const std::string layers =
      text_of<size_t>("pfnQueryNetworkGetSupportedLayers",
                      [&](size_t* size, char* out) { return list(query, size, out); });
  require(graph->pfnQueryNetworkDestroy(query), "pfnQueryNetworkDestroy");
  return layers;
}

ze_result_t Npu::set_arguments(const Graph& made, std::initializer_list<const void*> values) const {
  uint32_t index = 0;
  for (const void* value : values) {
    const ze_result_t set = graph->pfnSetArgumentValue(made.get(), index++, value);
    if (set != ZE_RESULT_SUCCESS) return set;
  }
  return ZE_RESULT_SUCCESS;
}

ze_result_t Npu::append(const List& list, const Graph& made, ze_event_handle_t signal,
                        std::initializer_list<ze_event_handle_t> waits) const {
  std::vector<ze_event_handle_t> events(waits);
  return graph->pfnAppendGraphExecute(list.get(), made.get(), nullptr, signal,
                                      static_cast<uint32_t>(events.size()),
                                      events.empty() ? nullptr : events.data());
}

Fence make_fence(const Queue& queue, ze_fence_flags_t flags) {
  const ze_fence_desc_t desc{ZE_STRUCTURE_TYPE_FENCE_DESC, nullptr, flags};
  Fence fence;
  require(zeFenceCreate(queue.get(), &desc, fence.out()), "zeFenceCreate");
  return fence;
}

ze_result_t submit(const Queue& queue, const List& list, const Fence* fence) {
  ze_command_list_handle_t handle = list.get();
  return zeCommandQueueExecuteCommandLists(queue.get(), 1, &handle,
                                           fence == nullptr ? nullptr : fence->get());
}

ze_result_t run(const Queue& queue, const List& list) {
  const Fence fence = make_fence(queue);
  const ze_result_t submitted = submit(queue, list, &fence);
  if (submitted != ZE_RESULT_SUCCESS) return submitted;
  return zeFenceHostSynchronize(fence.get(), kOneMinuteNs);
}

ze_graph_desc_2_t graph_desc(ze_graph_format_t format, std::string_view input,
                             const char* build_flags, ze_graph_flags_t flags, const void* next) {
  ze_graph_desc_2_t desc{ZE_STRUCTURE_TYPE_GRAPH_DESC_2};
  desc.pNext = const_cast<void*>(next);
  desc.format = format;
  desc.inputSize = input.size();
  desc.pInput = reinterpret_cast<const uint8_t*>(input.data());
  desc.pBuildFlags = build_flags;
  desc.flags = flags;
  return desc;
}

std::string classic_buffer(ze_graph_compiler_version_info_t compiler, const std::string& xml,
                           const std::string& weights) {
  std::string buffer;
  put<uint16_t>(buffer, compiler.major);
  put<uint16_t>(buffer, compiler.minor);
  put<uint32_t>(buffer, 2);
  put<uint64_t>(buffer, xml.size());
  buffer += xml;
  put<uint64_t>(buffer, weights.size());
  return buffer + weights;
}

std::string weightless_buffer(ze_graph_compiler_version_info_t compiler, const std::string& xml,
                              const std::string& constants) {
  std::string buffer;
  for (const uint64_t number : {uint64_t{48}, uint64_t{4}, uint64_t{52}, uint64_t{constants.size()},
                                uint64_t{52 + constants.size()}, uint64_t{xml.size()}}) {
    put(buffer, number);
  }
  put<uint16_t>(buffer, compiler.major);
  put<uint16_t>(buffer, compiler.minor);
  return buffer + constants + xml;
}

std::string build_flags_of(const npu::test::IrWriter& ir) {
  return build_flag("inputs_precisions", ir.inputs(), precision) + " " +
         build_flag("inputs_layouts", ir.inputs(), layout) + " " +
         build_flag("outputs_precisions", ir.outputs(), precision) + " " +
         build_flag("outputs_layouts", ir.outputs(), layout);
}

}  // namespace bare
