#include "executor.hpp"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <thread>

#include "config.hpp"
#include "strided_copy.hpp"

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

ov::Tensor own_tensor(const Argument& argument) {
  return {argument.element_type, argument.shape};
}

Range range_of(const Argument& argument, const ArgumentValue& value) {
  return {static_cast<std::byte*>(value.pointer), extent_bytes(argument, value)};
}

bool is_input(const Argument& argument) {
  return argument.type == ZE_GRAPH_ARGUMENT_TYPE_INPUT;
}

// An argument as the executor keeps it: the graph may be gone while its commands run.
struct Bound {
  size_t index;  // among the inputs or among the outputs
  Argument argument;
  ArgumentValue value;
};

// Computes nothing: for measuring what the host costs, and for a device that takes its time without
// using the CPU.
class IdleExecutor : public Executor {
 public:
  IdleExecutor(const std::vector<Argument>& arguments, const std::vector<ArgumentValue>& values) {
    for (size_t i = 0; i < arguments.size(); ++i)
      if (!is_input(arguments[i])) outputs_.push_back({i, arguments[i], values[i]});
  }

  void run(ProfilingData* profile) override {
    const auto start = std::chrono::steady_clock::now();
    for (const Bound& output : outputs_) zero_output(output);
    outputs_.clear();
    if (profile != nullptr) profile->store({});
    if (config().execution == Execution::kDelay)
      std::this_thread::sleep_until(start + std::chrono::microseconds(config().delay_us));
  }

 private:
  static void zero_output(const Bound& output) {
    if (output.value.strides) {
      zero(output.argument, output.value);
    } else {
      std::memset(output.value.pointer, 0, output.argument.size_bytes);
    }
  }

  std::vector<Bound> outputs_;  // those not yet zeroed
};

class CpuExecutor : public Executor {
 public:
  CpuExecutor(std::shared_ptr<Program> program, const std::vector<Argument>& arguments,
              const std::vector<ArgumentValue>& values)
      : program_(std::move(program)), request_(program_->take_request()) {
    std::vector<Range> inputs;
    size_t input = 0;
    size_t output = 0;
    for (size_t i = 0; i < arguments.size(); ++i) {
      if (is_input(arguments[i])) {
        bind_input({input++, arguments[i], values[i]});
        inputs.push_back(range_of(arguments[i], values[i]));
      } else {
        bind_output({output++, arguments[i], values[i]}, inputs);
      }
    }
  }

  ~CpuExecutor() override {
    try {
      program_->give_back(std::move(request_));
    } catch (...) {
      // Out of memory: the next recording makes a new request.
    }
  }

  void run(ProfilingData* profile) override {
    for (const Bound& input : gathered_) {
      ov::Tensor dense = request_.get_input_tensor(input.index);
      gather(input.argument, input.value, static_cast<std::byte*>(dense.data()));
    }
    request_.infer();
    for (const Bound& output : staged_) copy_out(output);
    if (profile != nullptr) profile->store(request_.get_profiling_info());
  }

 private:
  // The plugin reads dense tensors only.
  void bind_input(Bound input) {
    if (!input.value.strides) {
      request_.set_input_tensor(input.index, tensor_over(input.argument, input.value.pointer));
      return;
    }
    request_.set_input_tensor(input.index, own_tensor(input.argument));
    gathered_.push_back(std::move(input));
  }

  // An output goes straight into the caller's memory, unless it has gaps, the plugin could read an
  // input behind its own output, or it only knows the output's size afterwards.
  void bind_output(Bound output, const std::vector<Range>& inputs) {
    const Range target = range_of(output.argument, output.value);
    const bool in_place = std::any_of(inputs.begin(), inputs.end(), [&target](const Range& input) {
      return input.overlaps(target);
    });
    if (!in_place && !output.argument.bounded && !output.value.strides) {
      request_.set_output_tensor(output.index, tensor_over(output.argument, output.value.pointer));
      return;
    }
    if (!output.argument.bounded)
      request_.set_output_tensor(output.index, own_tensor(output.argument));
    staged_.push_back(std::move(output));
  }

  void copy_out(const Bound& staged) {
    const ov::Tensor tensor = request_.get_output_tensor(staged.index);
    const auto* const dense = static_cast<const std::byte*>(tensor.data());
    if (staged.value.strides) return scatter(staged.argument, staged.value, dense);
    const size_t room = staged.argument.size_bytes;
    const size_t size = std::min(tensor.get_byte_size(), room);
    auto* const target = static_cast<std::byte*>(staged.value.pointer);
    std::memcpy(target, dense, size);
    std::memset(target + size, 0, room - size);
  }

  std::shared_ptr<Program> program_;
  ov::InferRequest request_;
  std::vector<Bound> gathered_;
  std::vector<Bound> staged_;
};

}  // namespace

std::unique_ptr<Executor> make_executor(std::shared_ptr<Program> program,
                                        const std::vector<Argument>& arguments,
                                        const std::vector<ArgumentValue>& values) {
  if (!program) return std::make_unique<IdleExecutor>(arguments, values);
  return std::make_unique<CpuExecutor>(std::move(program), arguments, values);
}

}  // namespace softnpu
