#pragma once

#include <gtest/gtest.h>

#include <chrono>
#include <cstring>
#include <initializer_list>
#include <span>
#include <vector>

#include "npu.hpp"
#include "tiny_ir.hpp"

namespace conformance {

inline constexpr uint64_t kOneMinuteNs = 60'000'000'000;
inline constexpr size_t kPageBytes = 4096;

using Clock = std::chrono::steady_clock;
inline double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

// Every test leaves the driver's objects and the process's shared-memory descriptors as it found
// them. What a test makes lives in its body, so it is gone when TearDown looks.
class NpuTest : public testing::Test {
 protected:
  void SetUp() override {
    live_before_ = live_objects();
    fds_before_ = shared_memory_fds();
  }
  void TearDown() override {
    const LiveObjects live = live_objects();
    EXPECT_EQ(live.count, live_before_.count)
        << "alive before: " << live_before_.text << "\nalive after: " << live.text;
    EXPECT_EQ(shared_memory_fds(), fds_before_) << "descriptors of shared memory leaked";
  }

  const Npu& npu() const { return Npu::get(); }

 private:
  LiveObjects live_before_;
  size_t fds_before_ = 0;
};

// --- Memory
ze_result_t allocate_host(size_t bytes, void** out, const void* next = nullptr,
                          ze_host_mem_alloc_flags_t flags = 0, size_t alignment = kPageBytes,
                          ze_context_handle_t context = nullptr);
ze_result_t allocate_device(size_t bytes, void** out, const void* next = nullptr,
                            size_t alignment = kPageBytes);
ze_result_t allocate_shared(size_t bytes, void** out, const void* next = nullptr,
                            size_t alignment = kPageBytes);
// Throws where the driver refuses. Zeroed.
Memory host_memory(size_t bytes, ze_context_handle_t context = nullptr);

// --- Contexts, queues and lists; those of another context than the suite's by its handle
Context make_context();
Queue make_queue(ze_command_queue_priority_t priority = ZE_COMMAND_QUEUE_PRIORITY_NORMAL);
Queue make_queue_in(ze_context_handle_t context);
List make_list(const void* next = nullptr);
List make_list_in(ze_context_handle_t context);
Fence make_fence(const Queue& queue, ze_fence_flags_t flags = 0);
ze_result_t submit(const Queue& queue, const List& list, const Fence* fence = nullptr);
// Submits, waits up to a minute, resets the fence. The first result that is not SUCCESS, or
// SUCCESS.
ze_result_t run(const Queue& queue, const List& list);

// --- Graphs
ze_graph_desc_2_t graph_desc(ze_graph_format_t format, std::span<const uint8_t> input,
                             const char* build_flags = nullptr, ze_graph_flags_t flags = 0);
// Initialises the graph with the call of the driver's version, or a list before 1.8.
void initialise(const Graph& graph);
// Compiled with pfnCreate2 and initialised. Throws where the driver refuses.
Graph compile(const TinyIr& ir, ze_graph_flags_t flags = 0, const std::string& config = {});
ze_result_t create_native(std::span<const uint8_t> blob, Graph& graph, ze_graph_flags_t flags = 0);
std::vector<uint8_t> native_binary(const Graph& graph);
// pfnSetArgumentValue for arguments 0, 1, ...
ze_result_t set_arguments(const Graph& graph, std::initializer_list<const void*> values);
ze_result_t append(const List& list, const Graph& graph, ze_event_handle_t signal = nullptr,
                   std::initializer_list<ze_event_handle_t> waits = {});
// The calling thread's last failure.
std::string last_build_log();

// add_relu with its memory and a closed list, ready to run.
struct AddRelu {
  AddRelu();
  explicit AddRelu(Graph compiled);
  void fill(float first);  // x[i] = first + i
  std::vector<float> expected() const;
  std::vector<float> result() const;

  Graph graph;
  Memory x;
  Memory y;
  List list;
};

}  // namespace conformance
