#include "executor.hpp"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <thread>

#include "config.hpp"

namespace softnpu {
namespace {

struct Range {
  std::byte* begin;
  size_t size_bytes;
  bool overlaps(const Range& other) const {
    return begin < other.begin + other.size_bytes && other.begin < begin + size_bytes;
  }
};

ov::Tensor tensor_over(const Argument& argument, void* pointer) {
  return {argument.element_type, argument.shape, pointer};
}

// Computes nothing: for measuring what the host costs, and for a device that takes its time without
// using the CPU.
class IdleExecutor : public Executor {
 public:
  IdleExecutor(const std::vector<Argument>& arguments, const std::vector<void*>& pointers) {
    for (size_t i = 0; i < arguments.size(); ++i)
      if (arguments[i].type == ZE_GRAPH_ARGUMENT_TYPE_OUTPUT)
        outputs_.push_back({static_cast<std::byte*>(pointers[i]), arguments[i].size_bytes});
  }

  void run(ProfilingData* profile) override {
    const auto start = std::chrono::steady_clock::now();
    for (const Range& output : outputs_) std::memset(output.begin, 0, output.size_bytes);
    outputs_.clear();
    if (profile != nullptr) profile->store({});
    if (config().execution == Execution::kDelay)
      std::this_thread::sleep_until(start + std::chrono::microseconds(config().delay_us));
  }

 private:
  std::vector<Range> outputs_;  // those not yet zeroed
};

class CpuExecutor : public Executor {
 public:
  CpuExecutor(std::shared_ptr<Program> program, const std::vector<Argument>& arguments,
              const std::vector<void*>& pointers)
      : program_(std::move(program)), request_(program_->take_request()) {
    std::vector<Range> inputs;
    size_t index = 0;
    for (; index < arguments.size() && arguments[index].type == ZE_GRAPH_ARGUMENT_TYPE_INPUT;
         ++index) {
      request_.set_input_tensor(index, tensor_over(arguments[index], pointers[index]));
      inputs.push_back({static_cast<std::byte*>(pointers[index]), arguments[index].size_bytes});
    }
    for (size_t output = 0; index < arguments.size(); ++index, ++output)
      bind_output(output, arguments[index], pointers[index], inputs);
  }

  ~CpuExecutor() override {
    try {
      program_->give_back(std::move(request_));
    } catch (...) {
      // Out of memory: the next recording makes a new request.
    }
  }

  void run(ProfilingData* profile) override {
    request_.infer();
    for (const Staged& output : staged_) copy_out(output);
    if (profile != nullptr) profile->store(request_.get_profiling_info());
  }

 private:
  struct Staged {
    size_t output;
    Range target;
  };

  // An output goes straight into the caller's memory, unless the plugin could read an input behind
  // its own output or only knows the output's size afterwards.
  void bind_output(size_t output, const Argument& argument, void* pointer,
                   const std::vector<Range>& inputs) {
    const Range target{static_cast<std::byte*>(pointer), argument.size_bytes};
    const bool in_place = std::any_of(inputs.begin(), inputs.end(), [&target](const Range& input) {
      return input.overlaps(target);
    });
    if (!in_place && !argument.bounded) {
      request_.set_output_tensor(output, tensor_over(argument, pointer));
      return;
    }
    if (!argument.bounded)
      request_.set_output_tensor(output, ov::Tensor(argument.element_type, argument.shape));
    staged_.push_back({output, target});
  }

  void copy_out(const Staged& staged) {
    const ov::Tensor tensor = request_.get_output_tensor(staged.output);
    const size_t size = std::min(tensor.get_byte_size(), staged.target.size_bytes);
    std::memcpy(staged.target.begin, tensor.data(), size);
    std::memset(staged.target.begin + size, 0, staged.target.size_bytes - size);
  }

  std::shared_ptr<Program> program_;
  ov::InferRequest request_;
  std::vector<Staged> staged_;
};

}  // namespace

std::unique_ptr<Executor> make_executor(std::shared_ptr<Program> program,
                                        const std::vector<Argument>& arguments,
                                        const std::vector<void*>& pointers) {
  if (!program) return std::make_unique<IdleExecutor>(arguments, pointers);
  return std::make_unique<CpuExecutor>(std::move(program), arguments, pointers);
}

}  // namespace softnpu
