#include "graph.hpp"

#include "config.hpp"
#include "executor.hpp"
#include "failure.hpp"
#include "ir_buffer.hpp"
#include "trace.hpp"

namespace softnpu {
namespace {

std::span<const std::byte> input_of(const ze_graph_desc_2_t& desc) {
  require(desc.pInput != nullptr, ZE_RESULT_ERROR_INVALID_NULL_POINTER);
  require(desc.inputSize != 0, ZE_RESULT_ERROR_INVALID_SIZE);
  return {reinterpret_cast<const std::byte*>(desc.pInput), desc.inputSize};
}

// ZE_GRAPH_FLAG_ENABLE_PROFILING is another way to say PERF_COUNT="YES"; the binary keeps it.
std::string flags_of(const ze_graph_desc_2_t& desc) {
  std::string flags = desc.pBuildFlags != nullptr ? desc.pBuildFlags : "";
  if ((desc.flags & ZE_GRAPH_FLAG_ENABLE_PROFILING) != 0) flags += " --config PERF_COUNT=\"YES\"";
  return flags;
}

CompileOptions options_of(const BuildFlags& flags) {
  return {flags.profiling(), flags.compilation_threads()};
}

}  // namespace

Graph::Graph(const ze_graph_desc_2_t& desc) {
  read(desc);
  model_ = read_model(image_->parts());
  arguments_ = describe_arguments(*model_);
  values_.assign(arguments_.size(), nullptr);
  if (compiled_from_ir_) initialise();
}

void Graph::read(const ze_graph_desc_2_t& desc) {
  const auto input = input_of(desc);
  if (desc.format == ZE_GRAPH_FORMAT_NGRAPH_LITE) {
    compiled_from_ir_ = true;
    const std::string flags = flags_of(desc);
    options_ = options_of(parse_build_flags(flags));
    const IrBuffer ir = read_ir_buffer(input);
    image_ = Image::from_parts({flags, ir.xml, ir.weights});
  } else if (desc.format == ZE_GRAPH_FORMAT_NATIVE) {
    const bool borrow = (desc.flags & ZE_GRAPH_FLAG_INPUT_GRAPH_PERSISTENT) != 0;
    image_ = Image::from_binary(input, borrow);
    options_ = options_of(parse_build_flags(image_->parts().flags));
  } else {
    throw Failure(ZE_RESULT_ERROR_INVALID_ARGUMENT,
                  "graph format " + std::to_string(desc.format) + " is unknown");
  }
}

const Argument& Graph::argument(uint32_t index) const {
  require(index < arguments_.size(), ZE_RESULT_ERROR_INVALID_ARGUMENT);
  return arguments_[index];
}

uint32_t Graph::property_flags() const {
  uint32_t flags =
      compiled_from_ir_ ? ZE_GRAPH_PROPERTIES_FLAG_COMPILED : ZE_GRAPH_PROPERTIES_FLAG_PRE_COMPILED;
  if (profiling()) flags |= ZE_GRAPH_PROPERTIES_FLAG_PROFILING_ENABLED;
  return flags;
}

void Graph::set_argument(uint32_t index, const void* pointer) {
  require(pointer != nullptr, ZE_RESULT_ERROR_INVALID_NULL_POINTER);
  require(index < arguments_.size(), ZE_RESULT_ERROR_INVALID_ARGUMENT);
  const std::lock_guard lock(mutex_);
  values_[index] = const_cast<void*>(pointer);
}

void Graph::initialise() {
  const std::lock_guard lock(mutex_);
  if (initialised_) return;
  if (config().execution == Execution::kCpu)
    program_ = std::make_shared<Program>(image_, model_, options_);
  model_.reset();
  initialised_ = true;
}

Command Graph::record(Context& context, std::shared_ptr<ProfilingData> profile) {
  initialise();
  const std::lock_guard lock(mutex_);
  Command command;
  for (size_t i = 0; i < arguments_.size(); ++i) {
    auto memory = values_[i] != nullptr
                      ? context.allocations().find_range(values_[i], arguments_[i].size_bytes)
                      : nullptr;
    if (!memory)
      throw Failure(ZE_RESULT_ERROR_UNINITIALIZED,
                    "argument " + std::to_string(i) + " (" + arguments_[i].name +
                        ") is not set to memory of this context with " +
                        std::to_string(arguments_[i].size_bytes) + " bytes");
    trace::note_pointer("argument", values_[i]);
    command.memory.push_back(std::move(memory));
  }
  std::shared_ptr<Executor> executor = make_executor(program_, arguments_, values_);
  command.run = [executor, profile = std::move(profile)] { executor->run(profile.get()); };
  return command;
}

}  // namespace softnpu
