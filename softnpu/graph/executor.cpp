#include "executor.hpp"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <string>
#include <thread>

#include "base/config.hpp"
#include "base/failure.hpp"

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

/// Computes nothing: to measure the host's cost, and to act as a device that takes its time without
/// using the CPU.
class IdleExecutor : public Executor {
 public:
  IdleExecutor(const std::vector<Argument>& arguments, std::vector<ArgumentValue> values)
      : arguments_(arguments), values_(std::move(values)) {
    for (size_t i = 0; i < arguments_.size(); ++i) {
      if (!is_input(arguments_[i])) {
        fresh_.push_back(i);
      }
    }
  }

  void bind(size_t argument, const ArgumentValue& value) override {
    values_[argument] = value;
    if (!is_input(arguments_[argument])) {
      fresh_.push_back(argument);
    }
  }

  void run(ProfilingData* profile) override {
    const auto start = std::chrono::steady_clock::now();
    for (const size_t i : fresh_) zero_output(arguments_[i], values_[i]);
    fresh_.clear();
    if (profile != nullptr) {
      profile->store({});
    }
    if (config().execution == Execution::kDelay) {
      std::this_thread::sleep_until(start + std::chrono::microseconds(config().delay_us));
    }
  }

 private:
  static void zero_output(const Argument& argument, const ArgumentValue& value) {
    if (value.strides) {
      zero(argument, value);
    } else {
      std::memset(value.pointer, 0, argument.size_bytes);
    }
  }

  const std::vector<Argument>& arguments_;
  std::vector<ArgumentValue> values_;
  std::vector<size_t> fresh_;  // outputs not yet zeroed at their current address
};

/// Computes with a request of the program, which it gives back.
class CpuExecutor : public Executor {
 public:
  CpuExecutor(std::shared_ptr<Program> program, const std::vector<Argument>& arguments,
              std::vector<ArgumentValue> values)
      : program_(std::move(program)),
        request_(program_->take_request()),
        arguments_(arguments),
        values_(std::move(values)) {
    bind_all();
  }

  ~CpuExecutor() override {
    try {
      program_->give_back(std::move(request_));
    } catch (...) {
      // Out of memory: the next recording makes a new request.
    }
  }

  // Notes the change; the next run applies it, on the device's time.
  void bind(size_t argument, const ArgumentValue& value) override {
    values_[argument] = value;
    bound_ = false;
  }

  void run(ProfilingData* profile) override {
    if (!bound_) {
      bind_all();
    }
    for (const Port& input : varying_) {
      request_.set_input_tensor(input.index, ov::Tensor(argument(input).element_type,
                                                        shape_now(input), value(input).pointer));
    }
    for (const Port& input : gathered_) {
      ov::Tensor dense = request_.get_input_tensor(input.index);
      gather(argument(input), value(input), static_cast<std::byte*>(dense.data()));
    }
    request_.infer();
    for (const Port& output : staged_) copy_out(output);
    if (profile != nullptr) {
      profile->store(request_.get_profiling_info());
    }
  }

 private:
  struct Port {
    size_t argument;
    size_t index;  // among the inputs or among the outputs
  };
  const Argument& argument(const Port& port) const { return arguments_[port.argument]; }
  const ArgumentValue& value(const Port& port) const { return values_[port.argument]; }

  void bind_all() {
    gathered_.clear();
    staged_.clear();
    varying_.clear();
    std::vector<Range> inputs;
    size_t input = 0;
    size_t output = 0;
    for (size_t i = 0; i < arguments_.size(); ++i) {
      if (arguments_[i].holds_shape) continue;
      if (is_input(arguments_[i])) {
        bind_input({i, input++});
        inputs.push_back(range_of(arguments_[i], values_[i]));
      } else {
        bind_output({i, output++}, inputs);
      }
    }
    bound_ = true;
  }

  // Gives the plugin dense tensors only.
  void bind_input(const Port& input) {
    if (argument(input).shape_index) {
      varying_.push_back(input);
      return;
    }
    if (!value(input).strides) {
      request_.set_input_tensor(input.index, tensor_over(argument(input), value(input).pointer));
      return;
    }
    request_.set_input_tensor(input.index, own_tensor(argument(input)));
    gathered_.push_back(input);
  }

  // Outputs that the plugin places: those whose size it knows only afterwards, and those that are
  // an input, which it never copies.
  static bool is_placed_by_plugin(const Argument& output) {
    return output.bounded || output.passed_through || output.shape_index;
  }

  // Writes an output straight into the caller's memory, unless it has gaps, the plugin could read
  // an input behind its own output, or the plugin places it.
  void bind_output(const Port& output, const std::vector<Range>& inputs) {
    const Range target = range_of(argument(output), value(output));
    const bool in_place = std::any_of(inputs.begin(), inputs.end(), [&target](const Range& input) {
      return input.overlaps(target);
    });
    const bool placed = is_placed_by_plugin(argument(output));
    if (!in_place && !placed && !value(output).strides) {
      request_.set_output_tensor(output.index,
                                 tensor_over(argument(output), value(output).pointer));
      return;
    }
    if (!placed) {
      request_.set_output_tensor(output.index, own_tensor(argument(output)));
    }
    staged_.push_back(output);
  }

  // Throws UNKNOWN for sizes past the bounds: the device would read past its memory.
  ov::Shape shape_now(const Port& input) const {
    const Argument& bound = argument(input);
    const auto* const sizes = static_cast<const int32_t*>(values_[*bound.shape_index].pointer);
    ov::Shape shape(bound.shape.size());
    for (size_t i = 0; i < shape.size(); ++i) {
      const int32_t size = sizes[shape.size() - 1 - i];
      if (size <= 0 || static_cast<size_t>(size) > bound.shape[i]) {
        throw Failure(ZE_RESULT_ERROR_UNKNOWN, "dimension " + std::to_string(i) + " of \"" +
                                                   bound.name + "\" is " + std::to_string(size) +
                                                   ", at most " + std::to_string(bound.shape[i]) +
                                                   " were compiled");
      }
      shape[i] = static_cast<size_t>(size);
    }
    return shape;
  }

  void tell_shape(const Port& output, const ov::Shape& shape) {
    auto* const sizes = static_cast<int32_t*>(values_[*argument(output).shape_index].pointer);
    for (size_t i = 0; i < shape.size(); ++i) {
      sizes[shape.size() - 1 - i] = static_cast<int32_t>(shape[i]);
    }
  }

  void copy_out(const Port& staged) {
    const ov::Tensor tensor = request_.get_output_tensor(staged.index);
    if (argument(staged).shape_index) {
      tell_shape(staged, tensor.get_shape());
    }
    const auto* const dense = static_cast<const std::byte*>(tensor.data());
    if (value(staged).strides) return scatter(argument(staged), value(staged), dense);
    const size_t room = argument(staged).size_bytes;
    const size_t size = std::min(tensor.get_byte_size(), room);
    auto* const target = static_cast<std::byte*>(value(staged).pointer);
    std::memmove(target, dense, size);
    std::memset(target + size, 0, room - size);
  }

  std::shared_ptr<Program> program_;
  ov::InferRequest request_;
  const std::vector<Argument>& arguments_;
  std::vector<ArgumentValue> values_;
  bool bound_ = false;         // the request has the current values
  std::vector<Port> varying_;  // inputs whose sizes come with each run
  std::vector<Port> gathered_;
  std::vector<Port> staged_;
};

}  // namespace

std::unique_ptr<Executor> make_executor(std::shared_ptr<Program> program,
                                        const std::vector<Argument>& arguments,
                                        std::vector<ArgumentValue> values) {
  if (!program) return std::make_unique<IdleExecutor>(arguments, std::move(values));
  return std::make_unique<CpuExecutor>(std::move(program), arguments, std::move(values));
}

}  // namespace softnpu
