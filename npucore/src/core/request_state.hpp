#pragma once

#include <chrono>
#include <memory>
#include <vector>

#include "core/compiled_model_state.hpp"
#include "npucore/tensor.hpp"
#include "ze/graph.hpp"

namespace npu::internal {

/// One command list that executes the graph on the tensors bound now, and its fence.
class RequestState {
 public:
  explicit RequestState(std::shared_ptr<CompiledModelState> model);
  RequestState(const RequestState&) = delete;
  RequestState& operator=(const RequestState&) = delete;
  ~RequestState();

  void bind_input(std::size_t index, const Tensor& tensor);
  void bind_output(std::size_t index, const Tensor& tensor);
  const Tensor& input(std::size_t index);
  const Tensor& output(std::size_t index);
  void submit();
  bool wait(std::chrono::nanoseconds timeout);

 private:
  /// An imported buffer that some device may still be working on when this request is submitted.
  struct Producer {
    int fd;
    dmabuf::FenceUse use;
  };

  void bind(Tensor& slot, const BoundPort& port, const Port& description, const Tensor& tensor);
  const Tensor& allocate(Tensor& slot, const BoundPort& port, MemoryUse use);
  void record();
  void append();
  void collect_producers();
  void wait_for_producers() const;
  void end_flight();
  [[noreturn]] void fail(ze_result_t result, const char* call);

  const std::shared_ptr<CompiledModelState> model_;
  const ze::Loader& loader_;
  std::optional<ze::ProfilingSlot> profiling_;
  const ze::CommandList list_;
  const ze::Fence fence_;
  std::vector<Tensor> inputs_, outputs_;
  std::vector<Producer> producers_;
  bool recorded_ = false;  ///< the list holds the tensors bound now
  bool used_ = false;      ///< the list holds something: reset it first
  bool in_flight_ = false;
};

}  // namespace npu::internal
