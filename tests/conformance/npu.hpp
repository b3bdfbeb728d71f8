#pragma once

#include <level_zero/ze_api.h>

#include <cstdint>
#include <iosfwd>
#include <map>
#include <memory>
#include <string>
#include <utility>

#include <ze_npu/ze_npu.h>

// Found by gtest through the argument's namespace: results read as names in failures.
void PrintTo(ze_result_t result, std::ostream* out);

namespace conformance {

// The NPU behind the process's Level Zero loader, found as applications find it: the first driver
// with a VPU device and the graph extension. Opened by the first get(), so that tests of what comes
// before it can still be written.
struct Npu {
  ze_driver_handle_t driver = nullptr;
  ze_device_handle_t device = nullptr;
  ze_context_handle_t context = nullptr;
  ze_device_properties_t properties{};
  std::map<std::string, uint32_t> extensions;  // name -> version word
  const ze_graph_dditable_ext_t* graph = nullptr;
  const ze_graph_profiling_dditable_ext_t* profiling = nullptr;
  const ze_command_queue_npu_dditable_ext_t* queue_ext = nullptr;  // null where not advertised
  const ze_context_npu_dditable_ext_t* context_ext = nullptr;      // null where not advertised
  ze_graph_compiler_version_info_t compiler{};

  static const Npu& get();

  bool graph_has(uint32_t minor) const;
  bool advertises(const std::string& extension) const { return extensions.count(extension) != 0; }
  bool is_software() const;
};

// An entry point that old loaders lack; null there.
void* loader_symbol(const char* name);
// A function that the driver finds under a name of its own; null where it knows none.
void* driver_function(const char* name);
// Objects that the driver has alive in this process, where it can tell: text for messages, and the
// sum.
struct LiveObjects {
  bool known = false;
  uint32_t count = 0;
  std::string text;
};
LiveObjects live_objects();
// Open descriptors of shared memory and DMA-BUFs.
size_t shared_memory_fds();
// ZE_ENABLE_VALIDATION_LAYER and ZE_ENABLE_PARAMETER_VALIDATION are both on.
bool parameter_validation();
// The loader wraps handles (ZE_ENABLE_LOADER_INTERCEPT). It then reads through handles and handle
// arrays before the driver sees them, so a null one is the loader's crash and no question to the
// driver.
bool handles_are_wrapped();

// Owns one handle; `Destroy` is the loader's function for it.
template <class Handle, ze_result_t(ZE_APICALL* Destroy)(Handle)>
class Owned {
 public:
  Owned() = default;
  explicit Owned(Handle handle) : handle_(handle) {}
  Owned(Owned&& other) noexcept : handle_(std::exchange(other.handle_, nullptr)) {}
  Owned& operator=(Owned&& other) noexcept {
    std::swap(handle_, other.handle_);
    return *this;
  }
  ~Owned() {
    if (handle_ != nullptr) {
      Destroy(handle_);
    }
  }
  Handle get() const { return handle_; }
  // For create calls.
  Handle* out() { return &handle_; }

 private:
  Handle handle_ = nullptr;
};

using Context = Owned<ze_context_handle_t, zeContextDestroy>;
using Queue = Owned<ze_command_queue_handle_t, zeCommandQueueDestroy>;
using List = Owned<ze_command_list_handle_t, zeCommandListDestroy>;
using Fence = Owned<ze_fence_handle_t, zeFenceDestroy>;
using EventPool = Owned<ze_event_pool_handle_t, zeEventPoolDestroy>;
using Event = Owned<ze_event_handle_t, zeEventDestroy>;

// Level Zero memory, freed with the object.
class Memory {
 public:
  Memory() = default;
  Memory(ze_context_handle_t context, void* data) : context_(context), data_(data) {}
  Memory(Memory&& other) noexcept
      : context_(other.context_), data_(std::exchange(other.data_, nullptr)) {}
  Memory& operator=(Memory&& other) noexcept {
    std::swap(context_, other.context_);
    std::swap(data_, other.data_);
    return *this;
  }
  ~Memory() { free(); }
  ze_result_t free() {
    return data_ == nullptr ? ZE_RESULT_SUCCESS
                            : zeMemFree(context_, std::exchange(data_, nullptr));
  }
  template <class T = void>
  T* as() const {
    return static_cast<T*>(data_);
  }

 private:
  ze_context_handle_t context_ = nullptr;
  void* data_ = nullptr;
};

// Graphs are the driver's own objects, reached through its table.
class Graph {
 public:
  Graph() = default;
  explicit Graph(ze_graph_handle_t handle) : handle_(handle) {}
  Graph(Graph&& other) noexcept : handle_(std::exchange(other.handle_, nullptr)) {}
  Graph& operator=(Graph&& other) noexcept {
    std::swap(handle_, other.handle_);
    return *this;
  }
  ~Graph() {
    if (handle_ != nullptr) {
      Npu::get().graph->pfnDestroy(handle_);
    }
  }
  ze_graph_handle_t get() const { return handle_; }
  ze_graph_handle_t* out() { return &handle_; }

 private:
  ze_graph_handle_t handle_ = nullptr;
};

}  // namespace conformance
