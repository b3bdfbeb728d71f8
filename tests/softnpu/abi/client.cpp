#include "client.hpp"

namespace softnpu_test {
namespace {

const IrWriter::Shape kShape{1, 4};

}  // namespace

IrWriter sample_ir(const float* weights) {
  const std::vector<float> copied = {1, 2, 3, 4};
  IrWriter ir("sample");
  const auto x = ir.parameter("x", "f32", kShape, "", "x_tensor");
  const auto bias = weights == nullptr
                        ? ir.constant("bias", copied, kShape)
                        : ir.constant_in_place("bias", "f32", kShape, weights, 4 * sizeof(float));
  ir.result(
      ir.layer("Add", {x, bias},
               {.name = "sum", .data = "auto_broadcast=\"numpy\"", .tensor_names = "y_tensor"}),
      "y");
  return ir;
}

IrWriter stateful_ir(const std::vector<float>& initial) {
  IrWriter ir("stateful");
  const auto x = ir.parameter("x", "f32", kShape);
  const auto begin = initial.empty() ? x : ir.constant("initial", initial, kShape);
  const auto sum = ir.binary("Add", x, ir.read_value("sum", "f32", kShape, {begin}), "add");
  ir.assign("sum", sum);
  ir.result(sum, "y");
  return ir;
}

std::string buffer_of(const IrWriter& ir) {
  return classic_buffer(kCompiler, ir.xml(), ir.weights());
}

std::string sample_buffer() {
  return buffer_of(sample_ir());
}

std::string weightless_sample(const float* weights) {
  return weightless_buffer(kCompiler, sample_ir(weights).xml());
}

Graph Client::sample(const char* build_flags, ze_graph_flags_t flags) {
  Graph made;
  const ze_result_t result =
      create(sample_buffer(), ZE_GRAPH_FORMAT_NGRAPH_LITE, made, build_flags, flags);
  require(result, "compiling the sample (" + log + ")");
  return made;
}

Graph Client::load(std::string_view binary, ze_graph_flags_t flags) {
  Graph made;
  const ze_result_t result = create(binary, ZE_GRAPH_FORMAT_NATIVE, made, nullptr, flags);
  require(result, "loading a binary (" + log + ")");
  return made;
}

std::string_view Client::binary_in_place(const Graph& made) const {
  size_t size = 0;
  const uint8_t* view = nullptr;
  require(graph->pfnGetNativeBinary2(made.get(), &size, &view), "pfnGetNativeBinary2");
  return {reinterpret_cast<const char*>(view), size};
}

std::vector<float> Client::run(const Graph& made) const {
  const Memory input = floats(4);
  return run_on(made, input.as<float>());
}

std::vector<float> Client::run_on(const Graph& made, float* input) const {
  const Memory output = floats(4);
  for (int i = 0; i < 4; ++i) input[i] = 10.0f * static_cast<float>(i + 1);
  const Queue queue = make_queue();
  const List list = make_list();
  set_arguments(made, {input, output.as<>()});
  if (append(list, made) != ZE_RESULT_SUCCESS ||
      zeCommandListClose(list.get()) != ZE_RESULT_SUCCESS ||
      submit(queue, list) != ZE_RESULT_SUCCESS ||
      zeCommandQueueSynchronize(queue.get(), UINT64_MAX) != ZE_RESULT_SUCCESS) {
    return {};
  }
  return {output.as<float>(), output.as<float>() + 4};
}

Memory Client::import(int fd, size_t bytes) const {
  ze_external_memory_import_fd_t import{ZE_STRUCTURE_TYPE_EXTERNAL_MEMORY_IMPORT_FD, nullptr,
                                        ZE_EXTERNAL_MEMORY_TYPE_FLAG_DMA_BUF, fd};
  const ze_host_mem_alloc_desc_t desc{ZE_STRUCTURE_TYPE_HOST_MEM_ALLOC_DESC, &import, 0};
  void* pointer = nullptr;
  zeMemAllocHost(context, &desc, bytes, 0, &pointer);
  return {context, pointer};
}

}  // namespace softnpu_test
