#pragma once

#include <cstddef>
#include <filesystem>
#include <openvino/openvino.hpp>
#include <span>
#include <string>
#include <vector>

namespace bench {

// The reason why OpenVINO's NPU plugin cannot run in this process; empty: it can.
std::string why_no_plugin();

// OpenVINO's NPU plugin, with the input in memory of its own context.
class PluginClient {
 public:
  PluginClient(const std::filesystem::path& model, std::size_t buffers);

  void infer() { request_.infer(); }
  void infer(std::size_t buffer) {
    request_.set_input_tensor(inputs_[buffer]);
    request_.infer();
  }
  void start_and_wait() {
    request_.start_async();
    request_.wait();
  }

  std::span<std::byte> input(std::size_t buffer);
  std::span<std::byte> output();

 private:
  ov::Core core_;
  ov::CompiledModel compiled_;
  ov::InferRequest request_;
  std::vector<ov::Tensor> inputs_;
};

}  // namespace bench
