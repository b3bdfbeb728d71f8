// Public objects after std::move: an Error that says so, or an empty object.
#include <gtest/gtest.h>

#include <utility>

#include <npucore/adapters/remote.hpp>
#include <npucore/npucore.hpp>

#include "support.hpp"

namespace npu::test {
namespace {

class MovedFrom : public OnSoftwareNpu {
 protected:
  CompiledModel compile() {
    return CompiledModel::compile(device_, Model::read(write_affine_model(folder_.path())));
  }
  TempDir folder_;
};

template <class Action>
void expect_empty(const std::string& what, Action action) {
  expect_error(ErrorCode::kInvalidArgument, "this " + what + " is empty: it was moved", action);
}

// NOLINTBEGIN(bugprone-use-after-move): that is what is tested
TEST_F(MovedFrom, ARequestSaysSo) {
  Request request = compile().create_request();
  const Tensor tensor = request.input(0);
  Request other = std::move(request);
  std::vector<std::byte> memory(tensor.size_bytes());
  const PortBinding binding{0, &tensor};
  expect_empty("Request", [&] { request.set_input(0, tensor); });
  expect_empty("Request", [&] { request.set_output(0, tensor); });
  expect_empty("Request", [&] { request.set_input(0, HostMemory(memory.data(), memory.size())); });
  expect_empty("Request", [&] { request.set_output(0, HostMemory(memory.data(), memory.size())); });
  expect_empty("Request", [&] { request.input(0); });
  expect_empty("Request", [&] { request.output(0); });
  expect_empty("Request", [&] { request.set_input("x", tensor); });
  expect_empty("Request", [&] { request.set_output("y", tensor); });
  expect_empty("Request", [&] { request.input("x"); });
  expect_empty("Request", [&] { request.output("y"); });
  expect_empty("Request", [&] { request.batch(); });
  expect_empty("Request", [&] { request.set_callback({}); });
  expect_empty("Request", [&] { request.submit(); });
  expect_empty("Request", [&] { request.submit(Bindings{{&binding, 1}, {}}); });
  expect_empty("Request", [&] { request.wait(); });
  expect_empty("Request", [&] { request.infer(); });
  expect_empty("Request", [&] { request.states(); });
  expect_empty("Request", [&] { request.profile(); });
  expect_empty("Request", [&] { request.inference_time_ns(); });
  expect_empty("Request", [&] { request.copies(); });
  other.infer();
  request = std::move(other);
  request.infer();
}

TEST_F(MovedFrom, AModelSaysSo) {
  Model model = Model::read(write_affine_model(folder_.path()));
  const Model other = std::move(model);
  expect_empty("Model", [&] { model.inputs(); });
  expect_empty("Model", [&] { model.outputs(); });
  expect_empty("Model", [&] { model.name(); });
  expect_empty("Model", [&] { model.path(); });
  expect_empty("Model", [&] { model.model_info(); });
  expect_empty("Model", [&] { model.set_model_info("a", "b"); });
  expect_empty("Model", [&] { model.frame_input(); });
  expect_empty("Model", [&] { model.warnings(); });
  expect_empty("Model", [&] { model.check_supported(); });
  expect_empty("Model", [&] { model.reshape({}); });
  expect_empty("Model", [&] { model.add_preprocess({}); });
  expect_empty("Model", [&] { const Model copy(model); });
  expect_empty("Model", [&] {
    Model assigned = other;
    assigned = model;
  });
  expect_empty("Model", [&] { CompiledModel::compile(device_, model); });
  expect_empty("Model", [&] { compile_async(device_, model); });
}

TEST_F(MovedFrom, ACompiledModelSaysSo) {
  CompiledModel model = compile();
  const CompiledModel other = std::move(model);
  expect_empty("CompiledModel", [&] { model.device(); });
  expect_empty("CompiledModel", [&] { model.inputs(); });
  expect_empty("CompiledModel", [&] { model.outputs(); });
  expect_empty("CompiledModel", [&] { model.input_index("x"); });
  expect_empty("CompiledModel", [&] { model.input_takes_strides(0); });
  expect_empty("CompiledModel", [&] { model.frame_input(); });
  expect_empty("CompiledModel", [&] { model.model_info(); });
  expect_empty("CompiledModel", [&] { model.load_stats(); });
  expect_empty("CompiledModel", [&] { model.is_lost(); });
  expect_empty("CompiledModel", [&] { model.get_property("NPU_TILES"); });
  expect_empty("CompiledModel", [&] { model.set_property("WORKLOAD_TYPE", "DEFAULT"); });
  expect_empty("CompiledModel", [&] { model.native_binary(); });
  expect_empty("CompiledModel", [&] { model.export_blob(folder_.path() / "blob"); });
  expect_empty("CompiledModel", [&] { model.create_request(); });
  expect_empty("CompiledModel", [&] { model.optimal_number_of_requests(); });
}

TEST_F(MovedFrom, ADeviceSaysSo) {
  Device device = device_;
  const Device other = std::move(device);
  expect_empty("Device", [&] { device.info(); });
  expect_empty("Device", [&] { device.memory(); });
  expect_empty("Device", [&] { device.utilization(); });
  expect_empty("Device", [&] { device.get_property("NPU_TILES"); });
  expect_empty("Device", [&] { device.set_property("NPU_TURBO", "YES"); });
  expect_empty("Device", [&] { device.properties(); });
  expect_empty("Device", [&] { device.shareable_memory(); });
  expect_empty("Device", [&] { device.dmabuf_sources(); });
  expect_empty("Device", [&] { device.native_context(); });
  expect_empty("Device", [&] { Tensor::allocate(device, 4, MemoryUse::kInput); });
  expect_empty("Device", [&] { Tensor::allocate_shareable(device, 4, MemoryUse::kInput); });
  expect_empty("Device", [&] { Importer(device).import(0); });
  expect_empty("Device", [&] {
    CompiledModel::compile(device, Model::read(write_affine_model(folder_.path())));
  });
  expect_empty("Device", [&] { RemoteContext(device).handle(); });
}

TEST_F(MovedFrom, CompletionsSaySo) {
  Completions completions;
  Request request = compile().create_request();
  Completions other = std::move(completions);
  expect_empty("Completions", [&] { completions.fd(); });
  expect_empty("Completions", [&] { completions.watch(request, 1); });
  expect_empty("Completions", [&] { completions.take(); });
  Request moved = std::move(request);
  expect_empty("Request", [&] { other.watch(request, 1); });
  other.watch(moved, 1);
  moved.infer();
  EXPECT_EQ(other.take().size(), 1U);
}

TEST_F(MovedFrom, AJobSaysSo) {
  CompileJob job = compile_async(device_, Model::read(write_affine_model(folder_.path())));
  const CompileJob other = std::move(job);
  expect_empty("CompileJob", [&] { job.progress(); });
  expect_empty("CompileJob", [&] { job.wait(); });
  expect_empty("CompileJob", [&] { job.get(); });
  job.cancel();  // nothing to cancel
  other.get();
}

TEST_F(MovedFrom, ATensorIsEmpty) {
  Tensor tensor = Tensor::allocate(device_, 64, MemoryUse::kInput);
  Request request = compile().create_request();
  const Tensor other = std::move(tensor);
  EXPECT_FALSE(tensor);
  EXPECT_EQ(tensor.data(), nullptr);
  EXPECT_EQ(tensor.size_bytes(), 0u);
  EXPECT_EQ(tensor.dmabuf_fd(), -1);
  EXPECT_TRUE(tensor.as<float>().empty());
  expect_error(ErrorCode::kInvalidArgument, "bytes", [&] { request.set_input(0, tensor); });
  expect_error(ErrorCode::kInvalidArgument, "exportable", [&] { tensor.export_dmabuf(); });
}

TEST_F(MovedFrom, ARemoteTensorSaysSo) {
  RemoteTensor tensor = RemoteContext(device_).create_host_tensor(ElementType::kF32, {1, 8});
  const RemoteTensor other = std::move(tensor);
  expect_empty("RemoteTensor", [&] { tensor.get_params(); });
}
// NOLINTEND(bugprone-use-after-move)

}  // namespace
}  // namespace npu::test
