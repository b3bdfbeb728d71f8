#include "public_calls.hpp"

#include <unistd.h>

#include <cstdlib>
#include <memory>

#include <npucore/adapters/remote.hpp>

#include "support.hpp"

namespace npu::test {
namespace {

void nothing(Stage& stage) {
  stage.device.reset();
}
void opened(Stage&) {}
void with_model(Stage& stage) {
  stage.model = stage.compile();
}
void with_profiling(Stage& stage) {
  stage.model = stage.compile("PERF_COUNT=YES");
}
void with_blob(Stage& stage) {
  stage.compile().export_blob(stage.blob);
}
void with_request(Stage& stage) {
  with_model(stage);
  stage.request = stage.model->create_request();
  stage.request->infer();
}

/// y = the state "sum" + x.
void with_states(Stage& stage) {
  IrWriter ir("running_sum");
  const auto x = ir.parameter("x", "f32", {1, 8});
  const auto sum = ir.binary("Add", ir.read_value("sum", "f32", {1, 8}), x, "y");
  ir.assign("sum", sum);
  ir.result(sum);
  stage.xml = ir.write(stage.folder.path(), "running_sum");
  stage.model = stage.compile();
}

void check_inference(Request& request) {
  auto* values = reinterpret_cast<float*>(request.input(0).data());
  for (std::size_t i = 0; i < kAffineElements; ++i) values[i] = static_cast<float>(i) - 9;
  request.infer();
  const auto* results = reinterpret_cast<const float*>(request.output(0).data());
  for (std::size_t i = 0; i < kAffineElements; ++i) {
    ASSERT_EQ(results[i], affine(static_cast<float>(i) - 9)) << i;
  }
}

const PublicCall kCalls[] = {
    {"DeviceOpen", nothing, [](Stage&) { Device::open(DeviceKind::kSoftware); }},
    {"DeviceOpenByAddress", nothing, [](Stage&) { Device::open("0000:00:0b.0"); }},
    {"DeviceList", nothing, [](Stage&) { Device::list(); }},
    {"DeviceMemory", opened, [](Stage& stage) { stage.device->memory(); }},
    {"DeviceUtilization", opened, [](Stage& stage) { stage.device->utilization(); }},
    {"DeviceProperties", opened,
     [](Stage& stage) {
       for (const auto& property : known_properties()) {
         if (property.of_device) {
           stage.device->get_property(property.name);
         }
       }
     }},
    {"Compile", opened, [](Stage& stage) { stage.compile(); }},
    {"CompileAModelInMemory", opened,
     [](Stage& stage) {
       const auto bin = std::filesystem::path(stage.xml).replace_extension(".bin");
       const auto xml = read_file(stage.xml), weights = read_file(bin);
       CompiledModel::compile(*stage.device, Model::read(xml, std::as_bytes(std::span(weights))));
     }},
    {"CompileWithCopiedWeights", opened,
     [](Stage& stage) { stage.compile("NPU_MODEL_SERIALIZER_VERSION=ALL_WEIGHTS_COPY"); }},
    {"CompileForProfiling", opened, [](Stage& stage) { stage.compile("PERF_COUNT=YES"); }},
    {"CompileForTurbo", opened,
     [](Stage& stage) { stage.compile("NPU_TURBO=YES MODEL_PRIORITY=HIGH"); }},
    {"CompileWithDeferredWeights", opened,
     [](Stage& stage) { stage.compile("NPU_DEFER_WEIGHTS_LOAD=YES").create_request(); }},
    {"CompileIntoACache", opened,
     [](Stage& stage) {
       const TempDir cache;
       stage.compile("CACHE_DIR=\"" + cache.path().string() + "\"");
     }},
    {"CompileFromACache",
     [](Stage& stage) { stage.compile("CACHE_DIR=\"" + stage.folder.path().string() + "\""); },
     [](Stage& stage) { stage.compile("CACHE_DIR=\"" + stage.folder.path().string() + "\""); }},
    {"LoadCached",
     [](Stage& stage) {
       stage.compile("CACHE_ID=a CACHE_DIR=\"" + stage.folder.path().string() + "\"");
     },
     [](Stage& stage) {
       CompileOptions options;
       options.properties.set(property::cache_dir, stage.folder.path().string());
       options.properties.set(property::cache_id, "a");
       CompiledModel::load_cached(*stage.device, options);
     }},
    {"CompileAsync", opened,
     [](Stage& stage) { compile_async(*stage.device, stage.read()).get(); }},
    {"ImportAFile", with_blob,
     [](Stage& stage) { CompiledModel::import(*stage.device, stage.blob); }},
    {"ImportFromMemory", with_blob,
     [](Stage& stage) {
       const auto text = read_file(stage.blob);
       CompiledModel::import(*stage.device, std::as_bytes(std::span(text)));
     }},
    {"ImportWithAModelAtHand", with_blob,
     [](Stage& stage) { CompiledModel::import(*stage.device, stage.blob, stage.read()); }},
    {"ExportBlob", with_model, [](Stage& stage) { stage.model->export_blob(stage.blob); }},
    {"NativeBinary", with_model, [](Stage& stage) { stage.model->native_binary(); }},
    {"ModelProperties", with_model,
     [](Stage& stage) {
       for (const auto& property : known_properties()) {
         if (property.of_model) {
           stage.model->get_property(property.name);
         }
       }
     }},
    {"SetWorkloadType", with_model,
     [](Stage& stage) {
       stage.model->set_property(property::workload_type, WorkloadType::kEfficient);
     }},
    {"CreateRequest", with_model, [](Stage& stage) { stage.model->create_request(); }},
    {"CreateRequestForProfiling", with_profiling,
     [](Stage& stage) { stage.model->create_request(); }},
    {"FirstInference", with_model,
     [](Stage& stage) {
       auto request = stage.model->create_request();
       check_inference(request);
     }},
    {"Infer", with_request, [](Stage& stage) { check_inference(*stage.request); }},
    {"SubmitAndWait", with_request,
     [](Stage& stage) {
       stage.request->submit();
       while (!stage.request->wait(std::chrono::milliseconds(1))) {
       }
     }},
    {"BindAnotherTensor", with_request,
     [](Stage& stage) {
       const auto size = stage.request->input(0).size_bytes();
       stage.request->set_input(0, Tensor::allocate(*stage.device, size, MemoryUse::kInput));
       check_inference(*stage.request);
     }},
    {"InferABatch", with_model,
     [](Stage& stage) {
       auto request = stage.model->create_request(3);
       request.infer();
     }},
    {"InferWithACallback", with_request,
     [](Stage& stage) {
       stage.request->set_callback([](const std::exception_ptr&) {});
       stage.request->infer();
     }},
    {"InferWithCompletions", with_request,
     [](Stage& stage) {
       Completions completions;
       completions.watch(*stage.request, 1);
       stage.request->submit();
       stage.request->wait();
       completions.take();
     }},
    {"FindByName", with_request,
     [](Stage& stage) {
       stage.request->set_input("x", stage.request->input("input"));
       stage.request->output("y").as<float>();
     }},
    {"InferOnHostMemory", with_request,
     [](Stage& stage) {
       const std::unique_ptr<void, void (*)(void*)> page(std::aligned_alloc(4096, 4096), std::free);
       const auto own = stage.request->input(0);
       const std::shared_ptr<void> unbind(nullptr, [&](void*) {
         try {
           stage.request->set_input(0, own);
         } catch (const Error&) {
         }
       });
       stage.request->set_input(0, HostMemory{page.get(), 4096});
       stage.request->infer();
     }},
    {"Profile", with_profiling,
     [](Stage& stage) {
       auto request = stage.model->create_request();
       request.infer();
       request.profile();
       request.inference_time_ns();
     }},
    {"ImportHostMemory", opened,
     [](Stage& stage) {
       const std::unique_ptr<void, void (*)(void*)> page(std::aligned_alloc(4096, 4096), std::free);
       Tensor::import_host(*stage.device, HostMemory{page.get(), 4096}, MemoryUse::kInput);
     }},
    {"TensorFromAFile", with_blob,
     [](Stage& stage) { Tensor::from_file(*stage.device, stage.blob, 0, 4096); }},
    {"UseStates", with_states,
     [](Stage& stage) {
       auto request = stage.model->create_request();
       request.infer();
       auto state = request.states().at(0);
       const std::vector<std::byte> zeros(state.size_bytes());
       state.set(zeros);
       state.set(Tensor::allocate(*stage.device, state.size_bytes(), MemoryUse::kOutput));
       request.infer();
       state.reset();
     }},
    {"CreateRemoteTensors", opened,
     [](Stage& stage) {
       const RemoteContext context(*stage.device);
       context.create_l0_host_tensor(ElementType::kF32, {1, 8}).get_params();
       context.create_host_tensor(ElementType::kF32, {1, 8});
       const auto by_name = RemoteContext::create(*stage.device, context.get_params());
       by_name.create_tensor(ElementType::kF32, {1, 8}, RemoteProperties{});
     }},
    {"AllocateTensor", opened,
     [](Stage& stage) { Tensor::allocate(*stage.device, 10000, MemoryUse::kOutput); }},
    {"AllocateShareable", opened,
     [](Stage& stage) { Tensor::allocate_shareable(*stage.device, 10000, MemoryUse::kOutput); }},
    {"ExportDmabuf", opened,
     [](Stage& stage) {
       ::close(Tensor::allocate(*stage.device, 4096, MemoryUse::kInput, true).export_dmabuf());
     }},
    {"ImportDmabuf", opened,
     [](Stage& stage) {
       const int fd = make_memfd(8192);
       const std::shared_ptr<void> closer(nullptr, [fd](void*) { ::close(fd); });
       Importer(*stage.device).import(fd);
     }},
};

}  // namespace

std::span<const PublicCall> public_calls() {
  return kCalls;
}

}  // namespace npu::test
