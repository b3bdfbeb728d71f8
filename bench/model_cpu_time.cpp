// CPU time of a model through npucore on the software NPU, against OpenVINO's CPU plugin called
// directly with the same threads. Both copy the input in, infer, and find the outputs in the
// request's own tensors.
#include <CLI/CLI.hpp>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <iostream>
#include <nlohmann/json.hpp>
#include <openvino/openvino.hpp>
#include <random>
#include <thread>

#include <npucore/npucore.hpp>

#include "pairs.hpp"

namespace {

struct Options {
  std::string name;
  std::filesystem::path model;
  int warm_up_calls = 5;
  int pairs = 15;
  int calls = 1;
  int threads = static_cast<int>(std::thread::hardware_concurrency());
  double limit = 0;  // 0: only report
};

Options parse(int argc, char** argv) {
  Options options;
  CLI::App app("CPU time of a model on the software NPU against OpenVINO's CPU plugin");
  app.add_option("--name", options.name, "name of the case")->required();
  app.add_option("model", options.model, "IR (.xml)")->required();
  app.add_option("--warm-up", options.warm_up_calls, "calls of either side before measuring");
  app.add_option("--pairs", options.pairs, "measured pairs");
  app.add_option("--calls", options.calls, "calls of either side in a pair");
  app.add_option("--threads", options.threads, "threads of either side");
  app.add_option("--limit", options.limit, "fail when the ratio of CPU times is above");
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    std::exit(app.exit(error));
  }
  return options;
}

using Bytes = std::vector<std::byte>;

Bytes random_input(std::size_t size_bytes, bool is_f32) {
  std::mt19937 random(7);
  Bytes bytes(size_bytes);
  if (is_f32) {
    std::uniform_real_distribution<float> uniform(0.0f, 1.0f);
    auto* values = reinterpret_cast<float*>(bytes.data());
    for (std::size_t i = 0; i < size_bytes / sizeof(float); ++i) values[i] = uniform(random);
  } else {
    for (std::byte& value : bytes) value = static_cast<std::byte>(random() & 0xff);
  }
  return bytes;
}

class OnSoftwareNpu {
 public:
  explicit OnSoftwareNpu(const std::filesystem::path& model)
      : compiled_(npu::CompiledModel::compile(npu::Device::open(npu::DeviceKind::kSoftware),
                                              npu::Model::read(model))),
        request_(compiled_.create_request()) {
    for (const npu::Port& port : compiled_.inputs()) {
      sources_.push_back(random_input(port.size_bytes(), port.type == npu::ElementType::kF32));
    }
  }
  void infer() {
    for (std::size_t i = 0; i < sources_.size(); ++i) {
      std::memcpy(request_.input(i).data(), sources_[i].data(), sources_[i].size());
    }
    request_.infer();
  }
  npu::Tensor output() { return request_.output(0); }

 private:
  npu::CompiledModel compiled_;
  npu::Request request_;
  std::vector<Bytes> sources_;
};

class OnCpuPlugin {
 public:
  OnCpuPlugin(const std::filesystem::path& model, int threads) {
    ov::Core core;
    compiled_ =
        core.compile_model(model.string(), "CPU", ov::hint::inference_precision(ov::element::f32),
                           ov::hint::performance_mode(ov::hint::PerformanceMode::LATENCY),
                           ov::num_streams(1), ov::inference_num_threads(threads));
    request_ = compiled_.create_infer_request();
    for (std::size_t i = 0; i < compiled_.inputs().size(); ++i) {
      const ov::Tensor tensor = request_.get_input_tensor(i);
      sources_.push_back(
          random_input(tensor.get_byte_size(), tensor.get_element_type() == ov::element::f32));
    }
  }
  void infer() {
    for (std::size_t i = 0; i < sources_.size(); ++i) {
      std::memcpy(request_.get_input_tensor(i).data(), sources_[i].data(), sources_[i].size());
    }
    request_.infer();
  }
  ov::Tensor output() { return request_.get_output_tensor(0); }

 private:
  ov::CompiledModel compiled_;
  ov::InferRequest request_;
  std::vector<Bytes> sources_;
};

nlohmann::json to_json(const bench::Summary& summary) {
  return {{"median", summary.median}, {"p99", summary.p99}};
}

nlohmann::json report(const Options& options, const bench::PairResult& result) {
  return {
      {"case", options.name},
      {"unit", "ms per inference"},
      {"threads", options.threads},
      {"warm_up", options.warm_up_calls},
      {"pairs", options.pairs},
      {"calls", options.calls},
      {"subject", "npucore on the software NPU"},
      {"subject_cpu", to_json(result.subject_cpu_ms)},
      {"subject_wall", to_json(result.subject_wall_ms)},
      {"peer", "OpenVINO CPU plugin"},
      {"peer_cpu", to_json(result.peer_cpu_ms)},
      {"peer_wall", to_json(result.peer_wall_ms)},
      {"cpu_ratio", result.cpu_ratio},
      {"wall_ratio", result.wall_ratio},
  };
}

// Sides that compute different things cannot be compared.
bool same_output(OnSoftwareNpu& subject, OnCpuPlugin& peer) {
  const ov::Tensor expected = peer.output();
  const npu::Tensor actual = subject.output();
  return actual.size_bytes() == expected.get_byte_size() &&
         std::memcmp(actual.data(), expected.data(), expected.get_byte_size()) == 0;
}

int run(const Options& options) {
  // The driver reads this when it is opened.
  setenv("SOFTNPU_THREADS", std::to_string(options.threads).c_str(), 1);
  OnSoftwareNpu subject(options.model);
  OnCpuPlugin peer(options.model, options.threads);
  const bench::PairResult result =
      bench::run_pairs([&] { subject.infer(); }, [&] { peer.infer(); }, options.warm_up_calls,
                       options.pairs, options.calls);
  std::cout << report(options, result).dump() << std::endl;
  if (!same_output(subject, peer)) {
    std::cerr << options.name << ": the two sides' outputs differ\n";
    return 1;
  }
  if (options.limit > 0 && result.cpu_ratio > options.limit) {
    std::cerr << options.name << ": CPU time ratio " << result.cpu_ratio << " is above "
              << options.limit << "\n";
    return 1;
  }
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    return run(parse(argc, argv));
  } catch (const std::exception& error) {
    std::cerr << "model_cpu_time: " << error.what() << "\n";
    return 1;
  }
}
