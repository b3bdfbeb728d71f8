#include "fixture.hpp"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <memory>

namespace conformance {
namespace {

std::unique_ptr<Npu> the_npu;

/// The suite's context ends with the suite, or leak checkers count it.
class SuiteContext : public testing::Environment {
 public:
  void TearDown() override { the_npu.reset(); }
};
[[maybe_unused]] const testing::Environment* const kSuiteContext =
    testing::AddGlobalTestEnvironment(std::make_unique<SuiteContext>().release());

bool is_on(const char* variable) {
  const char* value = std::getenv(variable);
  return value != nullptr && std::strcmp(value, "1") == 0;
}

}  // namespace

Npu& npu() {
  if (!the_npu) {
    the_npu = std::make_unique<Npu>();
  }
  return *the_npu;
}

size_t shared_memory_fds() {
  size_t count = 0;
  for (const auto& entry : std::filesystem::directory_iterator("/proc/self/fd")) {
    std::error_code gone;
    const std::string target = std::filesystem::read_symlink(entry.path(), gone).string();
    if (target.rfind("/memfd:", 0) == 0 || target.find("dmabuf") != std::string::npos) {
      ++count;
    }
  }
  return count;
}

bool parameter_validation() {
  return is_on("ZE_ENABLE_VALIDATION_LAYER") && is_on("ZE_ENABLE_PARAMETER_VALIDATION");
}

bool handles_are_wrapped() {
  return is_on("ZE_ENABLE_LOADER_INTERCEPT");
}

ze_result_t allocate_host(size_t bytes, void** out, const void* next,
                          ze_host_mem_alloc_flags_t flags, size_t alignment,
                          ze_context_handle_t context) {
  ze_host_mem_alloc_desc_t desc{ZE_STRUCTURE_TYPE_HOST_MEM_ALLOC_DESC, next, flags};
  return zeMemAllocHost(context, &desc, bytes, alignment, out);
}

ze_result_t allocate_device(size_t bytes, void** out, const void* next, size_t alignment) {
  ze_device_mem_alloc_desc_t desc{ZE_STRUCTURE_TYPE_DEVICE_MEM_ALLOC_DESC, next, 0, 0};
  return zeMemAllocDevice(npu().context, &desc, bytes, alignment, npu().device, out);
}

ze_result_t allocate_shared(size_t bytes, void** out, const void* next, size_t alignment) {
  ze_device_mem_alloc_desc_t device{ZE_STRUCTURE_TYPE_DEVICE_MEM_ALLOC_DESC, next, 0, 0};
  ze_host_mem_alloc_desc_t host{ZE_STRUCTURE_TYPE_HOST_MEM_ALLOC_DESC, nullptr, 0};
  return zeMemAllocShared(npu().context, &device, &host, bytes, alignment, npu().device, out);
}

ze_result_t record(const List& list, const Graph& graph,
                   std::initializer_list<const void*> values) {
  ze_result_t result = set_arguments(graph, values);
  if (result == ZE_RESULT_SUCCESS) {
    result = append(list, graph);
  }
  return result == ZE_RESULT_SUCCESS ? zeCommandListClose(list.get()) : result;
}

IrWriter add_relu_ir(const float* bias) {
  IrWriter ir("add_relu");
  const auto x = ir.parameter("x", "f32", {1, 3, 4, 4});
  const IrWriter::Shape channels{1, 3, 1, 1};
  const auto added = bias == nullptr
                         ? ir.constant("bias", {std::begin(kBias), std::end(kBias)}, channels)
                         : ir.constant_in_place("bias", "f32", channels, bias, sizeof kBias);
  const auto sum = ir.binary("Add", x, added, "sum");
  ir.result(ir.layer("ReLU", {sum}, {.name = "y"}), "y_result");
  return ir;
}

std::vector<float> add_relu_expected(std::span<const float> x) {
  std::vector<float> y(x.size());
  for (size_t i = 0; i < x.size(); ++i) y[i] = std::max(0.0f, x[i] + kBias[i / 16 % 3]);
  return y;
}

IrWriter two_by_two_ir() {
  IrWriter ir("two_by_two");
  const auto a = ir.parameter("a", "u8", {1, 8});
  const auto b = ir.parameter("b", "f32", {1, 8});
  const auto a32 =
      ir.layer("Convert", {a}, {.name = "a32", .data = "destination_type=\"f32\"", .type = "f32"});
  const auto sum = ir.binary("Add", a32, b, "sum");
  const auto relu = ir.layer("ReLU", {b}, {.name = "relu"});
  ir.result(sum, "sum_result");
  ir.result(relu, "relu_result");
  return ir;
}

AddRelu::AddRelu(Graph compiled) : graph(std::move(compiled)) {
  require(record(list, graph, {x.as<>(), y.as<>()}), "recording add_relu");
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
