// A model with memory: each inference adds its input to the state "sum".
//
// usage: states models/running_sum.xml
#include <cstdio>
#include <vector>

#include <npucore/npucore.hpp>

int main(int count, char** arguments) try {
  if (count != 2) {
    std::fprintf(stderr, "usage: states models/running_sum.xml\n");
    return 2;
  }
  const npu::Device device = npu::Device::open();
  const auto compiled = npu::CompiledModel::compile(device, npu::Model::read(arguments[1]));
  npu::Request request = compiled.create_request();
  std::vector<npu::State> states = request.states();
  if (states.empty()) {
    std::fprintf(stderr, "%s has no states\n", arguments[1]);
    return 1;
  }
  const auto add = [&](float value) {
    request.input(0).as<float>()[0] = value;
    request.infer();
    return request.output(0).as<float>()[0];
  };
  add(1);
  add(2);
  std::printf("1 + 2 + 3 = %g\n", add(3));

  npu::State sum = states.front();
  std::printf("the state %s%s holds %g\n", sum.name().c_str(), npu::to_string(sum.shape()).c_str(),
              sum.get().as<float>()[0]);
  sum.reset();
  std::printf("after a reset: %g\n", add(10));
  return 0;
} catch (const npu::Error& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 1;
}
