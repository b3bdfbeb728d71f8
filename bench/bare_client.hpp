#pragma once

#include <cstddef>
#include <span>
#include <string_view>
#include <vector>

#include "support/bare/npu.hpp"

namespace bench {

// The least that Level Zero lets an application do: one context, one queue, one fence, and for each
// input buffer a list recorded in advance. The floor for everything above.
class BareClient {
 public:
  // `blob`: a native binary with one input and one output of these sizes.
  BareClient(std::span<const std::byte> blob, std::size_t input_bytes, std::size_t output_bytes,
             std::size_t buffers)
      : input_bytes_(input_bytes), output_bytes_(output_bytes) {
    const std::string_view binary(reinterpret_cast<const char*>(blob.data()), blob.size());
    bare::require(npu_.create(binary, ZE_GRAPH_FORMAT_NATIVE, graph_, nullptr), "pfnCreate");
    npu_.initialise(graph_);
    for (std::size_t i = 0; i < buffers; ++i)
      record(inputs_.emplace_back(npu_.host_memory(input_bytes)));
  }

  // Execute, wait for the fence, reset it.
  void infer(std::size_t buffer) {
    ze_command_list_handle_t list = lists_[buffer].get();
    check(zeCommandQueueExecuteCommandLists(queue_.get(), 1, &list, fence_.get()));
    check(zeFenceHostSynchronize(fence_.get(), UINT64_MAX));
    check(zeFenceReset(fence_.get()));
  }

  std::span<std::byte> input(std::size_t buffer) const {
    return {inputs_[buffer].as<std::byte>(), input_bytes_};
  }
  std::span<std::byte> output() const { return {output_.as<std::byte>(), output_bytes_}; }

 private:
  static void check(ze_result_t result) {
    if (result != ZE_RESULT_SUCCESS) {
      bare::require(result, "an inference on bare Level Zero");
    }
  }
  void record(const bare::Memory& input) {
    const bare::List& list = lists_.emplace_back(npu_.make_list());
    bare::require(npu_.set_arguments(graph_, {input.as<>(), output_.as<>()}),
                  "pfnSetArgumentValue");
    bare::require(npu_.append(list, graph_), "pfnAppendGraphExecute");
    bare::require(zeCommandListClose(list.get()), "zeCommandListClose");
  }

  bare::Npu npu_;
  std::size_t input_bytes_, output_bytes_;
  std::vector<bare::Memory> inputs_;
  bare::Memory output_ = npu_.host_memory(output_bytes_);
  bare::Graph graph_;
  bare::Queue queue_ = npu_.make_queue();
  bare::Fence fence_ = bare::make_fence(queue_);
  std::vector<bare::List> lists_;
};

}  // namespace bench
