// Opens the software NPU, compiles a model and runs it, in a process with little room.
//
// usage: limited-memory MEBIBYTES MODEL.xml     ends with 0 for a result, 3 for an Error
#include <sys/resource.h>

#include <cstdio>
#include <cstdlib>

#include <npucore/npucore.hpp>

int main(int count, char** arguments) {
  if (count != 3) return 2;
  const rlim_t bytes = std::strtoull(arguments[1], nullptr, 10) << 20;
  const rlimit limit{bytes, bytes};
  if (::setrlimit(RLIMIT_AS, &limit) != 0) return 2;
  try {
    auto model = npu::Model::read(arguments[2]);
    const auto device = npu::Device::open(npu::DeviceKind::kSoftware);
    auto request = npu::CompiledModel::compile(device, model).create_request();
    request.infer();
    std::puts("a result");
    return 0;
  } catch (const npu::Error& error) {
    std::printf("%s: %.500s\n", npu::to_string(error.code()), error.what());
    return 3;
  }
}
