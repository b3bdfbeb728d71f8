#pragma once

#include <level_zero/ze_api.h>

#include <cstddef>
#include <span>
#include <utility>
#include <vector>

#include <ze_npu/ze_npu.h>

namespace bench {

// Owns one handle; `Destroy` is the loader's function for it.
template <class Handle, ze_result_t(ZE_APICALL* Destroy)(Handle)>
class Owned {
 public:
  Owned() = default;
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
  Handle* out() { return &handle_; }

 private:
  Handle handle_ = nullptr;
};

// Level Zero memory that both host and device see.
class HostMemory {
 public:
  HostMemory(ze_context_handle_t context, std::size_t bytes);
  HostMemory(HostMemory&& other) noexcept
      : context_(other.context_), bytes_(std::exchange(other.bytes_, {})) {}
  HostMemory& operator=(HostMemory&&) = delete;
  ~HostMemory();
  std::span<std::byte> bytes() const { return bytes_; }

 private:
  ze_context_handle_t context_;
  std::span<std::byte> bytes_;
};

// The least that Level Zero lets an application do: one context, one queue, one fence, and for each
// input buffer a list recorded in advance. The floor for everything above.
class BareClient {
 public:
  // `blob`: a native binary with one input and one output of these sizes.
  BareClient(std::span<const std::byte> blob, std::size_t input_bytes, std::size_t output_bytes,
             std::size_t buffers);
  ~BareClient();
  BareClient(const BareClient&) = delete;
  BareClient& operator=(const BareClient&) = delete;

  // Execute, wait for the fence, reset it.
  void infer(std::size_t buffer) {
    ze_command_list_handle_t list = lists_[buffer].get();
    check(zeCommandQueueExecuteCommandLists(queue_.get(), 1, &list, fence_.get()));
    check(zeFenceHostSynchronize(fence_.get(), UINT64_MAX));
    check(zeFenceReset(fence_.get()));
  }

  std::span<std::byte> input(std::size_t buffer) const { return inputs_[buffer].bytes(); }
  std::span<std::byte> output() const { return outputs_.front().bytes(); }

 private:
  static void check(ze_result_t result);
  void find_device();
  void create_graph(std::span<const std::byte> blob);
  void record(const HostMemory& input);

  ze_device_handle_t device_ = nullptr;
  Owned<ze_context_handle_t, zeContextDestroy> context_;
  const ze_graph_dditable_ext_t* table_ = nullptr;
  std::vector<HostMemory> inputs_, outputs_;
  ze_graph_handle_t graph_ = nullptr;
  Owned<ze_command_queue_handle_t, zeCommandQueueDestroy> queue_;
  Owned<ze_fence_handle_t, zeFenceDestroy> fence_;
  std::vector<Owned<ze_command_list_handle_t, zeCommandListDestroy>> lists_;
};

}  // namespace bench
