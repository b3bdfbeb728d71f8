// Tensors of memory from elsewhere, by calls and by property maps.
#include <dlfcn.h>
#include <gtest/gtest.h>
#include <level_zero/ze_api.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <stdexcept>
#include <vector>

#include <npucore/adapters/remote.hpp>
#include <npucore/npucore.hpp>

#include "support.hpp"

namespace npu::test::remote_test {
namespace {

const Shape kShape = {1, 3, 4, 4};
constexpr std::size_t kBytes = kAffineElements * sizeof(float);

void fill(std::byte* memory, float value) {
  auto* floats = reinterpret_cast<float*>(memory);
  std::fill(floats, floats + kAffineElements, value);
}

class RemoteTensors : public OnSoftwareNpu {
 protected:
  /// The model's result for the tensor's first element.
  float infer(const Tensor& input) {
    Request request = model_.create_request();
    request.set_input(0, input);
    request.infer();
    EXPECT_EQ(request.copies(), 0u);
    return *reinterpret_cast<const float*>(request.output(0).data());
  }
  TempDir folder_;
  CompiledModel model_ =
      CompiledModel::compile(device_, Model::read(write_affine_model(folder_.path())));
  RemoteContext context_{device_};
};

TEST_F(RemoteTensors, ContextsOfDeviceAndModelAreOne) {
  EXPECT_NE(context_.handle(), nullptr);
  EXPECT_EQ(RemoteContext(model_).handle(), context_.handle());
  EXPECT_EQ(std::get<void*>(context_.get_params().at("L0_CONTEXT")), context_.handle());
}

/// Type of a pointer in a context, by the driver: ZE_MEMORY_TYPE_...
int memory_type(void* context, const void* pointer) {
  using GetProperties = int (*)(void*, const void*, ze_memory_allocation_properties_t*, void**);
  void* loader = ::dlopen("libze_loader.so.1", RTLD_LAZY | RTLD_NOLOAD);
  if (!loader) throw std::runtime_error("the loader is not loaded");
  const auto get = reinterpret_cast<GetProperties>(::dlsym(loader, "zeMemGetAllocProperties"));
  ::dlclose(loader);
  ze_memory_allocation_properties_t properties = {};
  properties.stype = ZE_STRUCTURE_TYPE_MEMORY_ALLOCATION_PROPERTIES;
  if (get(context, pointer, &properties, nullptr) != 0) return -1;
  return properties.type;
}

TEST_F(RemoteTensors, LieInTheDevicesNativeContext) {
  EXPECT_EQ(device_.native_context(), context_.handle());
  const Tensor tensor = Tensor::allocate(device_, 4096, MemoryUse::kInput);
  EXPECT_EQ(memory_type(device_.native_context(), tensor.data()), ZE_MEMORY_TYPE_HOST);
  const std::vector<std::byte> elsewhere(4096);
  EXPECT_NE(memory_type(device_.native_context(), elsewhere.data()), ZE_MEMORY_TYPE_HOST);
}

TEST_F(RemoteTensors, HaveAnotherNativeContextAfterALoss) {
  void* const before = device_.native_context();
  const Tensor keeps_it = Tensor::allocate(device_, 4096, MemoryUse::kInput);
  Request request = model_.create_request();
  request.infer();
  set_fault("zeCommandQueueExecuteCommandLists:POISON@1");
  expect_error(ErrorCode::kDeviceLost, "is lost", [&] { request.infer(); });
  set_fault("");
  request.infer();
  const Tensor tensor = Tensor::allocate(device_, 4096, MemoryUse::kInput);
  EXPECT_EQ(memory_type(device_.native_context(), tensor.data()), ZE_MEMORY_TYPE_HOST);
  EXPECT_NE(device_.native_context(), before);
}

TEST_F(RemoteTensors, ContextsAreMadeByName) {
  EXPECT_EQ(RemoteContext::create(device_, {}).handle(), context_.handle());
  EXPECT_EQ(RemoteContext::create(device_, {{"L0_CONTEXT", context_.handle()}}).handle(),
            context_.handle());
  expect_error(ErrorCode::kInvalidArgument, "is not the context of", [&] {
    RemoteContext::create(device_, {{"L0_CONTEXT", static_cast<void*>(this)}});
  });
  expect_error(ErrorCode::kInvalidArgument, "no remote property", [&] {
    RemoteContext::create(device_, {{"CL_CONTEXT", std::int64_t{1}}});
  });
}

TEST_F(RemoteTensors, OfDriverMemoryHaveItsPointer) {
  for (const TensorType use : {TensorType::kInput, TensorType::kBinded}) {
    const RemoteTensor tensor = context_.create_l0_host_tensor(ElementType::kF32, kShape, use);
    fill(tensor.data(), 2);
    EXPECT_EQ(infer(tensor), affine(2));
    const auto params = tensor.get_params();
    EXPECT_EQ(std::get<std::string>(params.at("MEM_TYPE")), "L0_INTERNAL_BUF");
    EXPECT_EQ(std::get<void*>(params.at("MEM_HANDLE")), tensor.data());
    EXPECT_EQ(std::get<void*>(params.at("L0_CONTEXT")), context_.handle());
    EXPECT_EQ(std::get<std::string>(params.at("TENSOR_TYPE")), to_string(use));
  }
  const RemoteTensor host = context_.create_host_tensor(ElementType::kF32, kShape);
  fill(host.data(), 3);
  EXPECT_EQ(infer(host), affine(3));
  EXPECT_EQ(host.shape(), kShape);
  EXPECT_EQ(host.type(), ElementType::kF32);
}

TEST_F(RemoteTensors, OfADmabufBeginAtTheirOffset) {
  const int fd = make_memfd(8192);
  std::vector<float> values(kAffineElements, 4.f);
  ASSERT_EQ(::pwrite(fd, values.data(), kBytes, 4352), static_cast<ssize_t>(kBytes));
  EXPECT_EQ(infer(context_.create_tensor(ElementType::kF32, kShape, fd, 4352)), affine(4));
  const RemoteTensor named = context_.create_tensor(
      ElementType::kF32, kShape,
      RemoteProperties{{"MEM_TYPE", std::string("SHARED_BUF")},
                       {"MEM_HANDLE", reinterpret_cast<void*>(static_cast<std::intptr_t>(fd))},
                       {"OFFSET", std::int64_t{4352}}});
  EXPECT_EQ(infer(named), affine(4));
  expect_error(ErrorCode::kInvalidArgument, "has 8192 bytes, not 192 at 8100",
               [&] { context_.create_tensor(ElementType::kF32, kShape, fd, 8100); });
  ::close(fd);
}

TEST_F(RemoteTensors, OfADmabufAreWhatTheirTypeSays) {
  const int fd = make_memfd(4096);
  const auto make = [&](const char* type) {
    return context_.create_tensor(ElementType::kF32, kShape,
                                  RemoteProperties{{"MEM_TYPE", std::string("SHARED_BUF")},
                                                   {"MEM_HANDLE", std::int64_t{fd}},
                                                   {"TENSOR_TYPE", std::string(type)}});
  };
  const RemoteTensor input = make("INPUT"), both = make("BINDED"), output = make("OUTPUT");
  for (const auto& [tensor, type] :
       {std::pair(&input, "INPUT"), {&both, "BINDED"}, {&output, "OUTPUT"}}) {
    EXPECT_EQ(std::get<std::string>(tensor->get_params().at("TENSOR_TYPE")), type);
    EXPECT_EQ(tensor->tensor().is_read_only(), tensor == &input) << type;
    EXPECT_EQ(tensor->data(), both.data()) << "the buffer is imported once";
  }
  Request request = model_.create_request();
  request.set_input(0, input);
  request.set_output(0, output);
  expect_error(ErrorCode::kInvalidArgument, "read-only", [&] { request.set_output(0, input); });
  expect_error(ErrorCode::kInvalidArgument, "read-only",
               [&] { request.set_output(0, input.tensor().slice(0, kBytes)); });
  ::close(fd);
}

TEST_F(RemoteTensors, OfHostMemoryAreInPlace) {
  void* pages = ::mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(pages, MAP_FAILED);
  fill(static_cast<std::byte*>(pages), 5);
  {
    const RemoteTensor tensor = context_.create_tensor(ElementType::kF32, kShape, pages);
    EXPECT_EQ(tensor.data(), pages);
    EXPECT_EQ(infer(tensor), affine(5));
  }
  const RemoteTensor named =
      context_.create_tensor(ElementType::kF32, kShape,
                             RemoteProperties{{"MEM_TYPE", std::string("CPU_VA")},
                                              {"MEM_HANDLE", pages},
                                              {"TENSOR_TYPE", std::string("INPUT")}});
  EXPECT_TRUE(named.tensor().is_read_only());
  EXPECT_EQ(infer(named), affine(5));
  ::munmap(pages, 4096);
}

TEST_F(RemoteTensors, OfAFileBeginAtTheirOffset) {
  std::vector<float> values(kAffineElements + 25, 6.f);
  const auto file = folder_.path() / "values.raw";
  write_file(file, {reinterpret_cast<const char*>(values.data()), values.size() * sizeof(float)});
  EXPECT_EQ(infer(context_.create_tensor(ElementType::kF32, kShape, file, 100)), affine(6));
  const RemoteTensor named =
      context_.create_tensor(ElementType::kF32, kShape,
                             RemoteProperties{{"MEM_TYPE", std::string("MMAPED_FILE")},
                                              {"FILE_DESCRIPTOR", file.string()},
                                              {"OFFSET", std::int64_t{100}}});
  EXPECT_EQ(infer(named), affine(6));
  EXPECT_EQ(std::get<std::string>(named.get_params().at("MEM_TYPE")), "MMAPED_FILE");
  EXPECT_EQ(std::get<std::string>(named.get_params().at("TENSOR_TYPE")), "INPUT");
  for (const char* type : {"OUTPUT", "BINDED"}) {
    expect_error(ErrorCode::kInvalidArgument, "a file is only read", [&] {
      context_.create_tensor(ElementType::kF32, kShape,
                             RemoteProperties{{"MEM_TYPE", std::string("MMAPED_FILE")},
                                              {"FILE_DESCRIPTOR", file.string()},
                                              {"TENSOR_TYPE", std::string(type)}});
    });
  }
}

TEST_F(RemoteTensors, OfNtHandlesHaveTheirPlace) {
  expect_error(ErrorCode::kUnsupported, "NT handle",
               [&] { context_.create_tensor_of_nt_handle(ElementType::kF32, kShape, this); });
}

TEST_F(RemoteTensors, ByNameRefuseWhatTheyDoNotKnow) {
  const auto make = [&](const RemoteProperties& properties) {
    return [this, properties] { context_.create_tensor(ElementType::kF32, kShape, properties); };
  };
  expect_error(ErrorCode::kInvalidArgument, "no remote property",
               make({{"MEM_KIND", std::string("CPU_VA")}}));
  expect_error(ErrorCode::kInvalidArgument, "must be L0_INTERNAL_BUF",
               make({{"MEM_TYPE", std::string("VA_SURFACE")}}));
  expect_error(ErrorCode::kInvalidArgument, "MEM_HANDLE must be given",
               make({{"MEM_TYPE", std::string("SHARED_BUF")}}));
  expect_error(ErrorCode::kInvalidArgument, "FILE_DESCRIPTOR must be",
               make({{"MEM_TYPE", std::string("MMAPED_FILE")}}));
  expect_error(ErrorCode::kInvalidArgument, "tensor type",
               make({{"TENSOR_TYPE", std::string("BOUND")}}));
}

TEST_F(RemoteTensors, AreBracketedForTheCpu) {
  const int fd = make_memfd(4096);
  const RemoteTensor tensor = context_.create_tensor(ElementType::kF32, kShape, fd);
  {
    const CpuAccess access(tensor, CpuAccess::Kind::kWrite);
    fill(access.data(), 8);
  }
  EXPECT_EQ(infer(tensor), affine(8));
  ::close(fd);
}

}  // namespace
}  // namespace npu::test::remote_test
