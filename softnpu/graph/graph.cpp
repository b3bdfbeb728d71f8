#include "graph.hpp"

#include "base/config.hpp"
#include "base/failure.hpp"
#include "base/trace.hpp"
#include "base/version.hpp"

#include "batch.hpp"
#include "disk_cache.hpp"
#include "graph_input.hpp"
#include "inference.hpp"
#include "io_options.hpp"
#include "refusals.hpp"
#include "states.hpp"

namespace softnpu {
namespace {

CompileOptions options_of(const BuildFlags& flags) {
  return {flags.profiling()};
}

// Refuses flags that NPUs cannot meet, and the client's mistakes about this model.
void check_flags(const BuildFlags& flags, const ov::Model& model,
                 const std::vector<Argument>& arguments) {
  constexpr const char* kByIndex = "use_indices_for_io_metadata";
  const bool by_index = compiler_version().at_least(5, 9) && model.has_rt_info(kByIndex) &&
                        model.get_rt_info<bool>(kByIndex);
  check_io_options(flags, arguments, by_index, compiler_version());
}

}  // namespace

Graph::Graph(const ze_graph_desc_2_t& desc) {
  const BuildFlags flags = read(desc);
  options_ = options_of(flags);
  model_ = read_model(image_->parts());
  if (origin_ == Origin::kCompiled) {
    check_auto_pads(*model_);
    check_layers(*model_, config().refusal);
  }
  apply_batch_mode(*model_, flags.batch_mode());
  expose_states(*model_);
  arguments_ = describe_arguments(*model_);
  enable_strides(arguments_, flags.strides_for());
  values_.resize(arguments_.size());
  if (origin_ == Origin::kNative) return;
  check_flags(flags, *model_, arguments_);
  initialise();
  if (origin_ == Origin::kCompiled && cache_key_) {
    store_in_cache();
  }
}

BuildFlags Graph::read(const ze_graph_desc_2_t& desc) {
  const auto input = input_of(desc);
  switch (desc.format) {
    case ZE_GRAPH_FORMAT_NGRAPH_LITE:
      return read_ir(desc, input);
    case ZE_GRAPH_FORMAT_NATIVE:
      return read_native(desc, input);
  }
  throw Failure(ZE_RESULT_ERROR_INVALID_ARGUMENT,
                "graph format " + std::to_string(desc.format) + " is unknown");
}

BuildFlags Graph::read_ir(const ze_graph_desc_2_t& desc, std::span<const std::byte> input) {
  const std::string text = flags_text_of(desc);
  BuildFlags flags = parse_build_flags(text, compiler_version(), platform_number());
  trace::note_text("input", flags.weights_by_address() ? "weightless" : "classic");
  cache_key_ = cache_key_of(desc, text);
  if (cache_key_ && load_from_cache()) return flags;
  origin_ = Origin::kCompiled;
  image_ = image_of_ir(input, text, flags);
  return flags;
}

bool Graph::load_from_cache() {
  auto file = driver_cache()->load(*cache_key_);
  if (!file) return false;
  try {
    image_ = Image::from_mapping(std::move(file->mapping), file->size_bytes);
  } catch (const Failure&) {
    driver_cache()->remove(*cache_key_);  // not ours, whoever put it there
    return false;
  }
  origin_ = Origin::kCache;
  cache_status_ = "ZE DynamicCaching cache_status_t: cache_status_t::found";
  trace::note_text("cache", "found");
  return true;
}

void Graph::store_in_cache() {
  if (!driver_cache()->store(*cache_key_, image_->bytes())) return;
  cache_status_ = "ZE DynamicCaching cache_status_t: cache_status_t::stored";
  trace::note_text("cache", "stored");
}

BuildFlags Graph::read_native(const ze_graph_desc_2_t& desc, std::span<const std::byte> input) {
  trace::note_text("input", "native");
  input_in_use_ = graph_has(13) && (desc.flags & ZE_GRAPH_FLAG_INPUT_GRAPH_PERSISTENT) != 0;
  image_ = Image::from_binary(input, input_in_use_);
  return parse_recorded_flags(image_->parts().flags);
}

const Argument& Graph::argument(uint32_t index) const {
  require(index < arguments_.size(), ZE_RESULT_ERROR_INVALID_ARGUMENT);
  return arguments_[index];
}

uint32_t Graph::property_flags() const {
  uint32_t flags = 0;
  switch (origin_) {
    case Origin::kCompiled:
      flags = ZE_GRAPH_PROPERTIES_FLAG_COMPILED;
      break;
    case Origin::kCache:
      flags = ZE_GRAPH_PROPERTIES_FLAG_LOADED_FROM_CACHE;
      break;
    case Origin::kNative:
      flags = ZE_GRAPH_PROPERTIES_FLAG_PRE_COMPILED;
      if (!input_in_use_ && graph_has(14)) {
        flags |= ZE_GRAPH_PROPERTIES_FLAG_NO_STANDARD_ALLOCATION;
      }
      break;
  }
  if (profiling() && graph_has(16)) {
    flags |= ZE_GRAPH_PROPERTIES_FLAG_PROFILING_ENABLED;
  }
  return flags;
}

void Graph::set_argument(uint32_t index, const void* pointer) {
  require(pointer != nullptr, ZE_RESULT_ERROR_INVALID_NULL_POINTER);
  argument(index);
  const std::scoped_lock lock(mutex_);
  values_[index] = {const_cast<void*>(pointer), std::nullopt};
}

void Graph::set_argument_chain(uint32_t index, const void* chain) {
  const Argument& taker = argument(index);
  const std::scoped_lock lock(mutex_);
  take_chain(taker, chain, values_[index]);
}

std::vector<ArgumentValue> Graph::values() {
  const std::scoped_lock lock(mutex_);
  return values_;
}

void Graph::initialise() {
  const std::scoped_lock lock(mutex_);
  if (initialised_) return;
  if (config().execution == Execution::kCpu) {
    program_ = program_of(image_, model_, options_);
  }
  model_.reset();
  code_ = std::make_shared<const GemHandle>();
  initialised_ = true;
}

Command Graph::record(Context& context, const std::vector<ArgumentValue>& values,
                      std::shared_ptr<ProfilingData> profile) {
  initialise();
  Command command = Inference::command_of(
      std::make_shared<Inference>(context, program_, arguments_, values, std::move(profile)));
  command.graph = this;
  command.code = code_;
  return command;
}

}  // namespace softnpu
