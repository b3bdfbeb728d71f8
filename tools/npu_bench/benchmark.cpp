#include "benchmark.hpp"

#include <chrono>

#include "inputs.hpp"
#include "interrupt.hpp"
#include "property_options.hpp"

namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::nanoseconds;

constexpr double kDefaultSeconds = 10;

double ms_since(Clock::time_point& start) {
  const auto now = Clock::now();
  return std::chrono::duration<double, std::milli>(now - std::exchange(start, now)).count();
}

npu::CompileOptions options_from(const Arguments& arguments) {
  npu::Properties hinted;
  if (arguments.hint == "throughput") {
    hinted.set(npu::property::performance_hint, npu::PerformanceHint::kThroughput);
  }
  if (arguments.hint == "latency") {
    hinted.set(npu::property::performance_hint, npu::PerformanceHint::kLatency);
  }
  if (arguments.profile) hinted.set(npu::property::profiling, true);
  npu::CompileOptions options;
  options.properties = properties_from(arguments.properties).over(hinted);
  return options;
}

RunLimits limits_from(const Arguments& arguments) {
  RunLimits limits;
  limits.iterations = arguments.iterations;
  double seconds = arguments.seconds;
  if (seconds == 0 && arguments.iterations == 0) seconds = kDefaultSeconds;
  limits.time = std::chrono::duration_cast<nanoseconds>(std::chrono::duration<double>(seconds));
  return limits;
}

struct Loaded {
  npu::CompiledModel model;
  double read_ms, load_ms;
};

Loaded load(const Arguments& arguments, const npu::Device& device) {
  const auto options = options_from(arguments);
  auto start = Clock::now();
  if (!arguments.is_ir()) {
    auto model = npu::CompiledModel::import(device, arguments.model, options);
    return {std::move(model), 0, ms_since(start)};
  }
  const auto ir = npu::Model::read(arguments.model, arguments.weights);
  const double read_ms = ms_since(start);
  auto model = npu::CompiledModel::compile(device, ir, options);
  return {std::move(model), read_ms, ms_since(start)};
}

std::vector<npu::Request> make_requests(const npu::CompiledModel& model, const InputSource& inputs,
                                        std::size_t count) {
  std::vector<npu::Request> requests;
  for (std::size_t i = 0; i < count; ++i) {
    auto& request = requests.emplace_back(model.create_request());
    for (std::size_t port = 0; port < model.inputs().size(); ++port) {
      const npu::Tensor tensor = request.input(port);
      inputs.fill(port, {tensor.data(), tensor.size_bytes()});
    }
  }
  return requests;
}

std::size_t requests_for(const Arguments& arguments, const npu::CompiledModel& model) {
  if (arguments.api == "sync") return 1;
  if (arguments.requests != 0) return arguments.requests;
  return static_cast<std::size_t>(model.get_property(npu::property::optimal_number_of_requests));
}

}  // namespace

double Benchmark::throughput() const {
  const double seconds = std::chrono::duration<double>(run.taken).count();
  return seconds == 0 ? 0 : static_cast<double>(run.latencies.size()) / seconds;
}

Benchmark run_benchmark(const Arguments& arguments) {
  const auto device = npu::Device::open(npu::device_kind_from_string(arguments.device));
  auto loaded = load(arguments, device);
  Benchmark result{std::move(loaded.model), 0, loaded.read_ms, loaded.load_ms, 0, {}, {}};
  result.requests = requests_for(arguments, result.model);
  const InputSource inputs(result.model.inputs(), arguments.inputs, arguments.seed);
  auto start = Clock::now();
  auto requests = make_requests(result.model, inputs, 1);
  requests.front().infer();
  result.first_ms = ms_since(start);
  for (auto& more : make_requests(result.model, inputs, result.requests - 1)) {
    requests.push_back(std::move(more));
  }
  const InterruptWatch watch;
  const auto limits = limits_from(arguments);
  result.run =
      arguments.api == "sync" ? run_sync(requests.front(), limits) : run_async(requests, limits);
  result.latency_ms = summarise(result.run.latencies);
  return result;
}
