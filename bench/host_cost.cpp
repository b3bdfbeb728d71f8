// Host cost of one inference: bare Level Zero calls, npucore and OpenVINO's NPU plugin on one
// driver in one process, in turn. Made for SOFTNPU_EXEC=null, where the device computes nothing.
#include <sched.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <iostream>
#include <optional>
#include <random>

#include <npucore/npucore.hpp>

#include "bare_client.hpp"
#include "plugin_client.hpp"
#include "turns.hpp"

namespace {

constexpr std::size_t kBuffers = 16;

struct Options {
  std::filesystem::path model;
  bench::TurnPlan plan;
  int cpu = 0;
};

Options parse(int argc, char** argv) {
  Options options;
  CLI::App app("Host cost of one inference against bare Level Zero calls", "host_cost");
  app.add_option("model", options.model, "IR (.xml) with one input and one output")->required();
  app.add_option("--warm-up", options.plan.warm_up_calls, "calls of every side before measuring");
  app.add_option("--rounds", options.plan.rounds, "measured rounds");
  app.add_option("--calls", options.plan.calls, "calls of every side in a round");
  app.add_option("--cpu", options.cpu, "the only CPU that all threads use, -1: any");
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    std::exit(app.exit(error));
  }
  return options;
}

// If the device's thread ran on another CPU, each side would pay for waking an idle one: 20 times
// the cost to be measured.
void stay_on(int cpu) {
  if (cpu < 0) return;
  cpu_set_t set;
  CPU_ZERO(&set);
  CPU_SET(cpu, &set);
  if (sched_setaffinity(0, sizeof(set), &set) != 0) {
    throw std::runtime_error("this process may not run on CPU " + std::to_string(cpu) +
                             ": pass --cpu");
  }
}

class NpucoreClient {
 public:
  explicit NpucoreClient(const std::filesystem::path& model)
      : device_(npu::Device::open(npu::DeviceKind::kSoftware)),
        compiled_(npu::CompiledModel::compile(device_, npu::Model::read(model))),
        request_(compiled_.create_request()) {
    if (compiled_.inputs().size() != 1 || compiled_.outputs().size() != 1) {
      throw std::runtime_error("the model must have one input and one output");
    }
    const std::size_t bytes = compiled_.inputs().front().size_bytes();
    for (std::size_t i = 0; i < kBuffers; ++i) {
      inputs_.push_back(npu::Tensor::allocate(device_, bytes, npu::MemoryUse::kInput));
    }
    request_.set_input(0, inputs_.front());
  }

  const npu::CompiledModel& compiled() const { return compiled_; }
  void infer() { request_.infer(); }
  void infer(std::size_t buffer) {
    request_.set_input(0, inputs_[buffer]);
    request_.infer();
  }
  void submit_and_wait() {
    request_.submit();
    request_.wait();
  }
  std::span<std::byte> input(std::size_t buffer) const {
    return {inputs_[buffer].data(), inputs_[buffer].size_bytes()};
  }
  std::span<std::byte> output() {
    const npu::Tensor tensor = request_.output(0);
    return {tensor.data(), compiled_.outputs().front().size_bytes()};
  }

 private:
  npu::Device device_;
  npu::CompiledModel compiled_;
  npu::Request request_;
  std::vector<npu::Tensor> inputs_;
};

struct Clients {
  NpucoreClient npucore;
  bench::BareClient bare;
  std::string no_plugin = bench::why_no_plugin();
  std::optional<bench::PluginClient> plugin;

  explicit Clients(const std::filesystem::path& model)
      : npucore(model),
        bare(npucore.compiled().native_binary(), npucore.compiled().inputs().front().size_bytes(),
             npucore.compiled().outputs().front().size_bytes(), kBuffers) {
    if (no_plugin.empty()) {
      plugin.emplace(model, kBuffers);
    }
  }
};

void fill(std::span<std::byte> bytes, unsigned seed) {
  std::mt19937 random(seed);
  std::uniform_real_distribution<float> uniform(0.0f, 1.0f);
  auto* values = reinterpret_cast<float*>(bytes.data());
  std::generate_n(values, bytes.size() / sizeof(float), [&] { return uniform(random); });
}

void require_same(std::span<const std::byte> ours, std::span<const std::byte> theirs,
                  const char* who, std::size_t buffer) {
  if (std::equal(ours.begin(), ours.end(), theirs.begin(), theirs.end())) return;
  throw std::runtime_error(std::string(who) + " and bare Level Zero differ on buffer " +
                           std::to_string(buffer));
}

// Checks that every side reads the buffer it was told to, and gives the same bytes.
void require_equal_results(Clients& clients) {
  for (std::size_t buffer = 0; buffer < kBuffers; ++buffer) {
    fill(clients.bare.input(buffer), static_cast<unsigned>(buffer));
    fill(clients.npucore.input(buffer), static_cast<unsigned>(buffer));
    clients.bare.infer(buffer);
    clients.npucore.infer(buffer);
    require_same(clients.npucore.output(), clients.bare.output(), "npucore", buffer);
    if (!clients.plugin) continue;
    fill(clients.plugin->input(buffer), static_cast<unsigned>(buffer));
    clients.plugin->infer(buffer);
    require_same(clients.plugin->output(), clients.bare.output(), "OpenVINO's plugin", buffer);
  }
  clients.npucore.infer(0);
  if (clients.plugin) {
    clients.plugin->infer(0);
  }
}

struct Case {
  std::string name;
  std::function<void()> bare, npucore, plugin;
};

std::vector<Case> cases(Clients& clients) {
  const auto moving = [](auto& client) {
    return [&client, next = std::size_t{0}]() mutable { client.infer(next++ % kBuffers); };
  };
  const auto bare_bound = [&clients] { clients.bare.infer(0); };
  std::vector<Case> all = {
      {"host_bound", bare_bound, [&] { clients.npucore.infer(); }, {}},
      {"host_async", bare_bound, [&] { clients.npucore.submit_and_wait(); }, {}},
      {"host_moving_16", moving(clients.bare), moving(clients.npucore), {}},
  };
  if (clients.plugin) {
    all[0].plugin = [&] { clients.plugin->infer(); };
    all[1].plugin = [&] { clients.plugin->start_and_wait(); };
    all[2].plugin = moving(*clients.plugin);
  }
  return all;
}

nlohmann::ordered_json measure(const Options& options, const Case& one,
                               const std::string& no_plugin) {
  std::vector<bench::Side> sides = {{"bare Level Zero", one.bare}, {"npucore", one.npucore}};
  if (one.plugin) {
    sides.push_back({"OpenVINO NPU plugin", one.plugin});
  }
  nlohmann::ordered_json line = {{"case", one.name},
                                 {"unit", "us per inference"},
                                 {"warm_up", options.plan.warm_up_calls},
                                 {"rounds", options.plan.rounds},
                                 {"calls", options.plan.calls},
                                 {"cpu", options.cpu}};
  for (const auto& result : bench::run_turns(sides, options.plan)) {
    line["sides"].push_back(bench::to_json(result));
  }
  if (!one.plugin) {
    line["skipped"] = {{"OpenVINO NPU plugin", no_plugin}};
  }
  return line;
}

int run(const Options& options) {
  stay_on(options.cpu);
  Clients clients(options.model);
  if (!clients.no_plugin.empty()) {
    std::cerr << "OpenVINO's NPU plugin is left out: it " << clients.no_plugin << '\n';
  }
  require_equal_results(clients);
  for (const Case& one : cases(clients)) {
    std::cout << measure(options, one, clients.no_plugin) << std::endl;
  }
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  const Options options = parse(argc, argv);
  try {
    return run(options);
  } catch (const std::exception& error) {
    std::cerr << "host_cost: " << error.what() << '\n';
    return 1;
  }
}
