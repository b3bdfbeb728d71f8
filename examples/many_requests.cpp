// Keeps the device busy with its optimal number of requests in flight, over one queue.
//
// usage: many_requests models/square.xml
#include <cstdio>
#include <vector>

#include <npucore/npucore.hpp>

int main(int count, char** arguments) try {
  if (count != 2) {
    std::fprintf(stderr, "usage: many_requests models/square.xml\n");
    return 2;
  }
  const npu::Device device = npu::Device::open();
  npu::CompileOptions options;
  options.properties.set(npu::property::performance_hint, npu::PerformanceHint::kThroughput);
  const auto model = npu::Model::read(arguments[1]);
  const auto compiled = npu::CompiledModel::compile(device, model, options);
  std::vector<npu::Request> requests;
  while (requests.size() < compiled.optimal_number_of_requests()) {
    requests.push_back(compiled.create_request());
  }

  constexpr std::size_t kFrames = 100;
  double sum = 0;
  for (std::size_t frame = 0; frame < kFrames + requests.size(); ++frame) {
    npu::Request& request = requests[frame % requests.size()];
    if (frame >= requests.size()) {  // the oldest, which is done first
      request.wait();
      sum += request.output(0).as<float>()[0];
    }
    if (frame >= kFrames) continue;
    request.input(0).as<float>()[0] = static_cast<float>(frame % 10);
    request.submit();
  }
  std::printf("%zu requests, %zu frames, sum %g\n", requests.size(), kFrames, sum);
  return 0;
} catch (const npu::Error& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 1;
}
