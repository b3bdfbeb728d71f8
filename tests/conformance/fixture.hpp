#pragma once

#include <gtest/gtest.h>

#include <chrono>
#include <cstring>
#include <span>
#include <vector>

#include "support/bare/ir_writer.hpp"
#include "support/bare/npu.hpp"

namespace conformance {

using namespace bare;  // NOLINT(google-build-using-namespace): the suite is the client's, word for
                       // word
using npu::test::IrWriter;

using Clock = std::chrono::steady_clock;
inline double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

// The suite's NPU, opened by the first call, so that tests of what comes before can still be
// written.
Npu& npu();

// Open descriptors of shared memory and DMA-BUFs.
size_t shared_memory_fds();
// ZE_ENABLE_VALIDATION_LAYER and ZE_ENABLE_PARAMETER_VALIDATION are both on.
bool parameter_validation();
// The loader wraps handles (ZE_ENABLE_LOADER_INTERCEPT). It then reads through handles and handle
// arrays before the driver sees them, so a null one is the loader's crash and no question to the
// driver.
bool handles_are_wrapped();

#define NEEDS_GRAPH_EXTENSION(minor) \
  if (!npu().graph_has(minor)) GTEST_SKIP() << "graph extension older than 1." #minor

// Every test leaves the driver's objects and the process's shared-memory descriptors as it found
// them. What a test makes lives in its body, so it is gone when TearDown looks.
class NpuTest : public testing::Test {
 protected:
  void SetUp() override {
    live_before_ = npu().live_objects();
    fds_before_ = shared_memory_fds();
  }
  void TearDown() override {
    const LiveObjects live = npu().live_objects();
    EXPECT_EQ(live.count, live_before_.count)
        << "alive before: " << live_before_.text << "\nalive after: " << live.text;
    EXPECT_EQ(shared_memory_fds(), fds_before_) << "descriptors of shared memory leaked";
  }

 private:
  LiveObjects live_before_;
  size_t fds_before_ = 0;
};

// --- The suite's NPU without its name in front
ze_result_t allocate_host(size_t bytes, void** out, const void* next = nullptr,
                          ze_host_mem_alloc_flags_t flags = 0, size_t alignment = kPageBytes,
                          ze_context_handle_t context = npu().context);
ze_result_t allocate_device(size_t bytes, void** out, const void* next = nullptr,
                            size_t alignment = kPageBytes);
ze_result_t allocate_shared(size_t bytes, void** out, const void* next = nullptr,
                            size_t alignment = kPageBytes);
inline Memory host_memory(size_t bytes) {
  return npu().host_memory(bytes);
}
inline Queue make_queue() {
  return npu().make_queue();
}
inline List make_list(const void* next = nullptr) {
  return npu().make_list(next);
}
inline Graph compile(const IrWriter& ir, ze_graph_flags_t flags = 0,
                     const std::string& config = {}) {
  return npu().compile(ir, flags, config);
}
inline ze_result_t create_native(std::string_view blob, Graph& graph, ze_graph_flags_t flags = 0) {
  return npu().create(blob, ZE_GRAPH_FORMAT_NATIVE, graph, nullptr, flags);
}
inline ze_result_t set_arguments(const Graph& graph, std::initializer_list<const void*> values) {
  return npu().set_arguments(graph, values);
}
inline ze_result_t append(const List& list, const Graph& graph, ze_event_handle_t signal = nullptr,
                          std::initializer_list<ze_event_handle_t> waits = {}) {
  return npu().append(list, graph, signal, waits);
}
// Sets the arguments, appends and closes: the first result that is not SUCCESS, or SUCCESS.
ze_result_t record(const List& list, const Graph& graph, std::initializer_list<const void*> values);

// y = max(0, x + bias[channel]); x and y are f32 [1,3,4,4]. The bias may stay at an address.
inline constexpr float kBias[3] = {-10.0f, 0.5f, 3.0f};
inline constexpr size_t kAddReluElements = 48;
inline constexpr size_t kAddReluBytes = kAddReluElements * sizeof(float);
IrWriter add_relu_ir(const float* bias = nullptr);
std::vector<float> add_relu_expected(std::span<const float> x);

// Inputs a (u8) and b (f32), outputs sum = a + b and relu = max(0, b); all [1,8]. Shows the order
// of arguments.
inline constexpr size_t kTwoByTwoElements = 8;
IrWriter two_by_two_ir();

// add_relu with its memory and a closed list, ready to run.
struct AddRelu {
  explicit AddRelu(Graph compiled = compile(add_relu_ir()));
  void fill(float first);  // x[i] = first + i
  std::vector<float> expected() const;
  std::vector<float> result() const;

  Graph graph;
  Memory x = host_memory(kAddReluBytes);
  Memory y = host_memory(kAddReluBytes);
  List list = make_list();
};

}  // namespace conformance
