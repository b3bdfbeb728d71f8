#include "benchmark.hpp"

#include <chrono>
#include <deque>
#include <span>

#include "inputs.hpp"
#include "interrupt.hpp"
#include "property_options.hpp"
#include "shape_options.hpp"

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
  if (arguments.profile) {
    hinted.set(npu::property::profiling, true);
  }
  npu::CompileOptions options;
  options.properties = properties_from(arguments.properties).over(hinted);
  return options;
}

RunLimits limits_from(const Arguments& arguments) {
  RunLimits limits;
  limits.iterations = arguments.iterations;
  double seconds = arguments.seconds;
  if (seconds == 0 && arguments.iterations == 0) {
    seconds = kDefaultSeconds;
  }
  limits.time = std::chrono::duration_cast<nanoseconds>(std::chrono::duration<double>(seconds));
  return limits;
}

struct Loaded {
  npu::CompiledModel model;
  double read_ms, load_ms;
};

npu::Model read_ir(const Arguments& arguments) {
  auto ir = npu::Model::read(arguments.model, arguments.weights);
  reshape(ir, arguments.reshape);
  return ir;
}

Loaded load(const Arguments& arguments, const npu::Device& device) {
  const auto options = options_from(arguments);
  auto start = Clock::now();
  if (!arguments.is_ir()) {
    auto model = npu::CompiledModel::import(device, arguments.model, options);
    return {std::move(model), 0, ms_since(start)};
  }
  const auto ir = read_ir(arguments);
  const double read_ms = ms_since(start);
  auto model = npu::CompiledModel::compile(device, ir, options);
  return {std::move(model), read_ms, ms_since(start)};
}

/// The program's memory, from the start of a page: some drivers read such memory in place.
class HostBuffer {
 public:
  explicit HostBuffer(std::size_t size_bytes)
      : bytes_(size_bytes + kPageBytes),
        start_(bytes_.data() +
               (kPageBytes - reinterpret_cast<std::uintptr_t>(bytes_.data()) % kPageBytes)),
        size_bytes_(size_bytes) {}
  std::span<std::byte> bytes() { return {start_, size_bytes_}; }

 private:
  static constexpr std::size_t kPageBytes = 4096;
  std::vector<std::byte> bytes_;
  std::byte* start_;
  std::size_t size_bytes_;
};

/// Requests with their inputs filled.
class Requests {
 public:
  Requests(const npu::CompiledModel& model, const InputSource& inputs, bool in_host_memory)
      : model_(model), inputs_(inputs), in_host_memory_(in_host_memory) {}

  void add() {
    auto& request = all_.emplace_back(model_.create_request());
    for (std::size_t port = 0; port < model_.inputs().size(); ++port) {
      const auto bytes =
          in_host_memory_ ? host_memory(request, port) : device_memory(request, port);
      inputs_.fill(port, bytes);
    }
  }
  std::vector<npu::Request>& all() { return all_; }

 private:
  std::span<std::byte> host_memory(npu::Request& request, std::size_t port) {
    const auto bytes = buffers_.emplace_back(model_.inputs()[port].size_bytes()).bytes();
    request.set_input(port, npu::HostMemory{bytes.data(), bytes.size()});
    return bytes;
  }
  static std::span<std::byte> device_memory(npu::Request& request, std::size_t port) {
    const npu::Tensor tensor = request.input(port);
    return {tensor.data(), tensor.size_bytes()};
  }

  const npu::CompiledModel& model_;
  const InputSource& inputs_;
  bool in_host_memory_;
  std::deque<HostBuffer> buffers_;  // outlives the requests that read it
  std::vector<npu::Request> all_;
};

std::size_t requests_for(const Arguments& arguments, const npu::CompiledModel& model) {
  if (arguments.api == "sync") return 1;
  if (arguments.requests != 0) return arguments.requests;
  return static_cast<std::size_t>(model.get_property(npu::property::optimal_number_of_requests));
}

void run(const Arguments& arguments, std::vector<npu::Request>& requests, Benchmark& result) {
  const InterruptWatch watch;
  const auto limits = limits_from(arguments);
  result.run =
      arguments.api == "sync" ? run_sync(requests.front(), limits) : run_async(requests, limits);
  result.latency_ms = summarise(result.run.latencies);
  for (const auto& request : requests) result.copies += request.copies();
  if (arguments.profile) {
    result.profile = requests.front().profile();
  }
}

}  // namespace

double Benchmark::throughput() const {
  const double seconds = std::chrono::duration<double>(run.taken).count();
  return seconds == 0 ? 0 : static_cast<double>(run.latencies.size()) / seconds;
}

Benchmark run_benchmark(const Arguments& arguments) {
  const auto device = npu::Device::open(arguments.device);
  auto loaded = load(arguments, device);
  Benchmark result{
      .model = std::move(loaded.model), .read_ms = loaded.read_ms, .load_ms = loaded.load_ms};
  result.requests = requests_for(arguments, result.model);
  const InputSource inputs(result.model.inputs(), arguments.inputs, arguments.seed);
  Requests requests(result.model, inputs, arguments.memory == "host");
  auto start = Clock::now();
  requests.add();
  requests.all().front().infer();
  result.first_ms = ms_since(start);
  while (requests.all().size() < result.requests) requests.add();
  run(arguments, requests.all(), result);
  if (arguments.estimate) {
    const auto& info = device.info();
    result.estimate =
        npu::compile_for({info.platform, info.tiles}, read_ir(arguments), options_from(arguments))
            .estimate;
  }
  return result;
}
