// An application of Level Zero at its barest: it finds an NPU as every application does, through
// the real loader, and needs nothing but Level Zero's and the NPU extensions' headers.
#pragma once

#include <level_zero/ze_api.h>

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <iosfwd>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <ze_npu/ze_npu.h>

#include "support/bare/ir_writer.hpp"

// Found by gtest through the argument's namespace: results read as names in failures.
void PrintTo(ze_result_t result, std::ostream* out);

namespace bare {

// Throws, with the name of the call, where it has not succeeded.
void require(ze_result_t result, const std::string& call);

// An entry point that old loaders lack; null there.
void* loader_symbol(const char* name);

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
  bool operator==(std::nullptr_t) const { return handle_ == nullptr; }
  // For create calls.
  Handle* out() { return &handle_; }
  ze_result_t destroy() { return Destroy(std::exchange(handle_, nullptr)); }

 private:
  Handle handle_ = nullptr;
};

// Graphs are the driver's own objects, reached through its table: that of the last Npu that was
// opened.
ze_result_t ZE_APICALL destroy_graph(ze_graph_handle_t graph);

using Queue = Owned<ze_command_queue_handle_t, zeCommandQueueDestroy>;
using List = Owned<ze_command_list_handle_t, zeCommandListDestroy>;
using Fence = Owned<ze_fence_handle_t, zeFenceDestroy>;
using EventPool = Owned<ze_event_pool_handle_t, zeEventPoolDestroy>;
using Event = Owned<ze_event_handle_t, zeEventDestroy>;
using Graph = Owned<ze_graph_handle_t, destroy_graph>;

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
  // For other ways to free it.
  void* release() { return std::exchange(data_, nullptr); }
  template <class T = void>
  T* as() const {
    return static_cast<T*>(data_);
  }

 private:
  ze_context_handle_t context_ = nullptr;
  void* data_ = nullptr;
};

// The live objects of the driver in this process, where it can tell: text for messages, and the
// sum.
struct LiveObjects {
  bool known = false;
  uint32_t count = 0;
  std::string text;
};

inline constexpr size_t kPageBytes = 4096;
inline constexpr uint64_t kOneMinuteNs = 60'000'000'000;

// The first driver with an NPU and the graph extension, and a context of this object's own.
class Npu {
 public:
  Npu();
  ~Npu() { zeContextDestroy(context); }
  Npu(const Npu&) = delete;
  Npu& operator=(const Npu&) = delete;

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

  bool graph_has(uint32_t minor) const;
  bool advertises(const std::string& extension) const { return extensions.count(extension) != 0; }
  bool is_software() const;
  // The function that the driver has under a name of its own; null where it knows none.
  void* function(const char* name) const;
  LiveObjects live_objects() const;

  // These throw where the driver refuses. Memory is zeroed.
  Memory host_memory(size_t bytes) const;
  Queue make_queue(ze_command_queue_priority_t priority = ZE_COMMAND_QUEUE_PRIORITY_NORMAL) const;
  List make_list(const void* next = nullptr) const;
  // Unless it is asynchronous, its appends return once they have been executed.
  List make_immediate_list(ze_command_queue_mode_t mode = ZE_COMMAND_QUEUE_MODE_SYNCHRONOUS) const;

  // With the newest call that the driver has and tells of failures; its log is in `log` then.
  ze_result_t create(std::string_view input, ze_graph_format_t format, Graph& made,
                     const char* build_flags = "", ze_graph_flags_t flags = 0,
                     const void* next = nullptr);
  std::string log;
  // The calling thread's last failure.
  std::string last_log() const;
  // Compiled and initialised. Throws where the driver refuses.
  Graph compile(const npu::test::IrWriter& ir, ze_graph_flags_t flags = 0,
                const std::string& config = {});
  // With the call of the driver's version, or a list before 1.8.
  void initialise(const Graph& made) const;
  std::string native_binary(const Graph& made) const;
  // The layers of an IR that the compiler takes, as the driver lists them: "<a><b>".
  std::string supported_layers(std::string_view input, const char* build_flags = "") const;
  // pfnSetArgumentValue for arguments 0, 1, ...
  ze_result_t set_arguments(const Graph& made, std::initializer_list<const void*> values) const;
  ze_result_t append(const List& list, const Graph& made, ze_event_handle_t signal = nullptr,
                     std::initializer_list<ze_event_handle_t> waits = {}) const;
};

Fence make_fence(const Queue& queue, ze_fence_flags_t flags = 0);
ze_result_t submit(const Queue& queue, const List& list, const Fence* fence = nullptr);
// Submits and waits up to a minute. The first result that is not SUCCESS, or SUCCESS.
ze_result_t run(const Queue& queue, const List& list);

ze_graph_desc_2_t graph_desc(ze_graph_format_t format, std::string_view input,
                             const char* build_flags = nullptr, ze_graph_flags_t flags = 0,
                             const void* next = nullptr);
// The classic NGRAPH_LITE buffer: u16 major, u16 minor, u32 2, u64 xml bytes, xml, u64 weight
// bytes, weights.
std::string classic_buffer(ze_graph_compiler_version_info_t compiler, const std::string& xml,
                           const std::string& weights);
// Six u64 (offset and size of custom data, constants, XML), the compiler's version, constants, XML.
std::string weightless_buffer(ze_graph_compiler_version_info_t compiler, const std::string& xml,
                              const std::string& constants = {});
// --inputs_precisions and its three siblings, arguments by index.
std::string build_flags_of(const npu::test::IrWriter& ir);

}  // namespace bare
