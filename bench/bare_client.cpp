#include "bare_client.hpp"

#include <stdexcept>
#include <string>

namespace bench {
namespace {

constexpr std::size_t kPageBytes = 4096;

void require(ze_result_t result, const char* call) {
  if (result == ZE_RESULT_SUCCESS) return;
  throw std::runtime_error(std::string(call) + " returned " + std::to_string(result));
}

std::vector<ze_driver_handle_t> drivers() {
  require(zeInit(0), "zeInit");
  uint32_t count = 0;
  require(zeDriverGet(&count, nullptr), "zeDriverGet");
  std::vector<ze_driver_handle_t> found(count);
  require(zeDriverGet(&count, found.data()), "zeDriverGet");
  return found;
}

ze_device_handle_t npu_of(ze_driver_handle_t driver) {
  uint32_t count = 0;
  require(zeDeviceGet(driver, &count, nullptr), "zeDeviceGet");
  std::vector<ze_device_handle_t> devices(count);
  require(zeDeviceGet(driver, &count, devices.data()), "zeDeviceGet");
  for (ze_device_handle_t device : devices) {
    ze_device_properties_t properties{};
    properties.stype = ZE_STRUCTURE_TYPE_DEVICE_PROPERTIES;
    require(zeDeviceGetProperties(device, &properties), "zeDeviceGetProperties");
    if (properties.type == ZE_DEVICE_TYPE_VPU) return device;
  }
  return nullptr;
}

}  // namespace

HostMemory::HostMemory(ze_context_handle_t context, std::size_t bytes) : context_(context) {
  const ze_host_mem_alloc_desc_t desc{ZE_STRUCTURE_TYPE_HOST_MEM_ALLOC_DESC, nullptr, 0};
  void* data = nullptr;
  require(zeMemAllocHost(context, &desc, bytes, kPageBytes, &data), "zeMemAllocHost");
  bytes_ = {static_cast<std::byte*>(data), bytes};
}

HostMemory::~HostMemory() {
  if (bytes_.data() != nullptr) {
    zeMemFree(context_, bytes_.data());
  }
}

BareClient::BareClient(std::span<const std::byte> blob, std::size_t input_bytes,
                       std::size_t output_bytes, std::size_t buffers) {
  find_device();
  for (std::size_t i = 0; i < buffers; ++i) inputs_.emplace_back(context_.get(), input_bytes);
  outputs_.emplace_back(context_.get(), output_bytes);
  ze_command_queue_desc_t queue{};
  queue.stype = ZE_STRUCTURE_TYPE_COMMAND_QUEUE_DESC;
  require(zeCommandQueueCreate(context_.get(), device_, &queue, queue_.out()),
          "zeCommandQueueCreate");
  const ze_fence_desc_t fence{ZE_STRUCTURE_TYPE_FENCE_DESC, nullptr, 0};
  require(zeFenceCreate(queue_.get(), &fence, fence_.out()), "zeFenceCreate");
  create_graph(blob);
  for (const HostMemory& input : inputs_) record(input);
}

BareClient::~BareClient() {
  lists_.clear();
  table_->pfnDestroy(graph_);
}

void BareClient::check(ze_result_t result) {
  require(result, "an inference on bare Level Zero");
}

void BareClient::find_device() {
  for (ze_driver_handle_t driver : drivers()) {
    device_ = npu_of(driver);
    if (device_ == nullptr) continue;
    const ze_context_desc_t desc{ZE_STRUCTURE_TYPE_CONTEXT_DESC, nullptr, 0};
    require(zeContextCreate(driver, &desc, context_.out()), "zeContextCreate");
    void* table = nullptr;
    require(zeDriverGetExtensionFunctionAddress(driver, ZE_GRAPH_EXT_NAME, &table),
            ZE_GRAPH_EXT_NAME);
    table_ = static_cast<const ze_graph_dditable_ext_t*>(table);
    return;
  }
  throw std::runtime_error("no driver with an NPU was found");
}

void BareClient::create_graph(std::span<const std::byte> blob) {
  ze_graph_desc_2_t desc{};
  desc.stype = ZE_STRUCTURE_TYPE_GRAPH_DESC_2;
  desc.format = ZE_GRAPH_FORMAT_NATIVE;
  desc.inputSize = blob.size();
  desc.pInput = reinterpret_cast<const uint8_t*>(blob.data());
  ze_graph_handle_t graph = nullptr;
  require(table_->pfnCreate2(context_.get(), device_, &desc, &graph), "pfnCreate2");
  require(table_->pfnGraphInitialize(graph), "pfnGraphInitialize");
  graph_ = graph;
}

void BareClient::record(const HostMemory& input) {
  const ze_command_list_desc_t desc{ZE_STRUCTURE_TYPE_COMMAND_LIST_DESC, nullptr, 0, 0};
  auto& list = lists_.emplace_back();
  require(zeCommandListCreate(context_.get(), device_, &desc, list.out()), "zeCommandListCreate");
  require(table_->pfnSetArgumentValue(graph_, 0, input.bytes().data()), "pfnSetArgumentValue");
  require(table_->pfnSetArgumentValue(graph_, 1, output().data()), "pfnSetArgumentValue");
  require(table_->pfnAppendGraphExecute(list.get(), graph_, nullptr, nullptr, 0, nullptr),
          "pfnAppendGraphExecute");
  require(zeCommandListClose(list.get()), "zeCommandListClose");
}

}  // namespace bench
