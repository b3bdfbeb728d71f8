#include "fixture.hpp"

#include <stdexcept>

namespace conformance {
namespace {

void require(ze_result_t result, const std::string& call) {
  if (result != ZE_RESULT_SUCCESS) {
    throw std::runtime_error(call + " returned " + testing::PrintToString(result));
  }
}

Queue create_queue(ze_context_handle_t context, ze_command_queue_priority_t priority) {
  ze_command_queue_desc_t desc{};
  desc.stype = ZE_STRUCTURE_TYPE_COMMAND_QUEUE_DESC;
  desc.priority = priority;
  Queue queue;
  require(zeCommandQueueCreate(context, Npu::get().device, &desc, queue.out()),
          "zeCommandQueueCreate");
  return queue;
}

List create_list(ze_context_handle_t context, const void* next) {
  ze_command_list_desc_t desc{ZE_STRUCTURE_TYPE_COMMAND_LIST_DESC, next, 0, 0};
  List list;
  require(zeCommandListCreate(context, Npu::get().device, &desc, list.out()),
          "zeCommandListCreate");
  return list;
}

}  // namespace

ze_result_t allocate_host(size_t bytes, void** out, const void* next,
                          ze_host_mem_alloc_flags_t flags, size_t alignment,
                          ze_context_handle_t context) {
  ze_host_mem_alloc_desc_t desc{ZE_STRUCTURE_TYPE_HOST_MEM_ALLOC_DESC, next, flags};
  if (context == nullptr) {
    context = Npu::get().context;
  }
  return zeMemAllocHost(context, &desc, bytes, alignment, out);
}

ze_result_t allocate_device(size_t bytes, void** out, const void* next, size_t alignment) {
  ze_device_mem_alloc_desc_t desc{ZE_STRUCTURE_TYPE_DEVICE_MEM_ALLOC_DESC, next, 0, 0};
  return zeMemAllocDevice(Npu::get().context, &desc, bytes, alignment, Npu::get().device, out);
}

ze_result_t allocate_shared(size_t bytes, void** out, const void* next, size_t alignment) {
  ze_device_mem_alloc_desc_t device{ZE_STRUCTURE_TYPE_DEVICE_MEM_ALLOC_DESC, next, 0, 0};
  ze_host_mem_alloc_desc_t host{ZE_STRUCTURE_TYPE_HOST_MEM_ALLOC_DESC, nullptr, 0};
  return zeMemAllocShared(Npu::get().context, &device, &host, bytes, alignment, Npu::get().device,
                          out);
}

Memory host_memory(size_t bytes, ze_context_handle_t context) {
  if (context == nullptr) {
    context = Npu::get().context;
  }
  void* data = nullptr;
  require(allocate_host(bytes, &data, nullptr, 0, kPageBytes, context), "zeMemAllocHost");
  std::memset(data, 0, bytes);
  return Memory(context, data);
}

Context make_context() {
  const ze_context_desc_t desc{ZE_STRUCTURE_TYPE_CONTEXT_DESC, nullptr, 0};
  Context context;
  require(zeContextCreate(Npu::get().driver, &desc, context.out()), "zeContextCreate");
  return context;
}

Queue make_queue(ze_command_queue_priority_t priority) {
  return create_queue(Npu::get().context, priority);
}

Queue make_queue_in(ze_context_handle_t context) {
  return create_queue(context, ZE_COMMAND_QUEUE_PRIORITY_NORMAL);
}

List make_list(const void* next) {
  return create_list(Npu::get().context, next);
}

List make_list_in(ze_context_handle_t context) {
  return create_list(context, nullptr);
}

Fence make_fence(const Queue& queue, ze_fence_flags_t flags) {
  ze_fence_desc_t desc{ZE_STRUCTURE_TYPE_FENCE_DESC, nullptr, flags};
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

ze_graph_desc_2_t graph_desc(ze_graph_format_t format, std::span<const uint8_t> input,
                             const char* build_flags, ze_graph_flags_t flags) {
  ze_graph_desc_2_t desc{};
  desc.stype = ZE_STRUCTURE_TYPE_GRAPH_DESC_2;
  desc.format = format;
  desc.inputSize = input.size();
  desc.pInput = input.data();
  desc.pBuildFlags = build_flags;
  desc.flags = flags;
  return desc;
}

void initialise(const Graph& graph) {
  const auto* const table = Npu::get().graph;
  if (Npu::get().graph_has(8)) {
    return require(table->pfnGraphInitialize(graph.get()), "pfnGraphInitialize");
  }
  const List list = make_list();
  require(table->pfnAppendGraphInitialize(list.get(), graph.get(), nullptr, 0, nullptr),
          "pfnAppendGraphInitialize");
  require(zeCommandListClose(list.get()), "zeCommandListClose");
  require(run(make_queue(), list), "initialising");
}

Graph compile(const TinyIr& ir, ze_graph_flags_t flags, const std::string& config) {
  const Npu& npu = Npu::get();
  const auto buffer = ngraph_lite_buffer(npu.compiler, ir.xml(), ir.weights());
  const std::string build_flags = ir.build_flags() + (config.empty() ? "" : " --config " + config);
  const auto desc = graph_desc(ZE_GRAPH_FORMAT_NGRAPH_LITE, buffer, build_flags.c_str(), flags);
  Graph graph;
  const ze_result_t created = npu.graph->pfnCreate2(npu.context, npu.device, &desc, graph.out());
  if (created != ZE_RESULT_SUCCESS) {
    require(created, "pfnCreate2 (" + last_build_log() + ")");
  }
  initialise(graph);
  return graph;
}

ze_result_t create_native(std::span<const uint8_t> blob, Graph& graph, ze_graph_flags_t flags) {
  const auto desc = graph_desc(ZE_GRAPH_FORMAT_NATIVE, blob, nullptr, flags);
  const Npu& npu = Npu::get();
  return npu.graph->pfnCreate2(npu.context, npu.device, &desc, graph.out());
}

std::vector<uint8_t> native_binary(const Graph& graph) {
  size_t size = 0;
  require(Npu::get().graph->pfnGetNativeBinary(graph.get(), &size, nullptr), "pfnGetNativeBinary");
  std::vector<uint8_t> blob(size);
  require(Npu::get().graph->pfnGetNativeBinary(graph.get(), &size, blob.data()),
          "pfnGetNativeBinary");
  return blob;
}

ze_result_t set_arguments(const Graph& graph, std::initializer_list<const void*> values) {
  uint32_t index = 0;
  for (const void* value : values) {
    const ze_result_t set = Npu::get().graph->pfnSetArgumentValue(graph.get(), index++, value);
    if (set != ZE_RESULT_SUCCESS) return set;
  }
  return ZE_RESULT_SUCCESS;
}

ze_result_t append(const List& list, const Graph& graph, ze_event_handle_t signal,
                   std::initializer_list<ze_event_handle_t> waits) {
  std::vector<ze_event_handle_t> events(waits);
  return Npu::get().graph->pfnAppendGraphExecute(list.get(), graph.get(), nullptr, signal,
                                                 static_cast<uint32_t>(events.size()),
                                                 events.empty() ? nullptr : events.data());
}

std::string last_build_log() {
  uint32_t size = 0;
  const auto get = Npu::get().graph->pfnBuildLogGetString;
  if (get(nullptr, &size, nullptr) != ZE_RESULT_SUCCESS || size == 0) return "";
  std::string text(size, '\0');
  require(get(nullptr, &size, text.data()), "pfnBuildLogGetString");
  return text.c_str();
}

AddRelu::AddRelu() : AddRelu(compile(add_relu_ir())) {}

AddRelu::AddRelu(Graph compiled)
    : graph(std::move(compiled)),
      x(host_memory(kAddReluBytes)),
      y(host_memory(kAddReluBytes)),
      list(make_list()) {
  require(set_arguments(graph, {x.as<>(), y.as<>()}), "pfnSetArgumentValue");
  require(append(list, graph), "pfnAppendGraphExecute");
  require(zeCommandListClose(list.get()), "zeCommandListClose");
  fill(-20.0f);
}

void AddRelu::fill(float first) {
  for (size_t i = 0; i < kAddReluElements; ++i) x.as<float>()[i] = first + static_cast<float>(i);
}

std::vector<float> AddRelu::expected() const {
  return add_relu_expected({x.as<float>(), kAddReluElements});
}

std::vector<float> AddRelu::result() const {
  return {y.as<float>(), y.as<float>() + kAddReluElements};
}

}  // namespace conformance
