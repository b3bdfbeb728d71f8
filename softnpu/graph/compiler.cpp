#include "compiler.hpp"

#include <algorithm>
#include <cstring>
#include <openvino/openvino.hpp>
#include <openvino/opsets/opset.hpp>
#include <openvino/pass/constant_folding.hpp>
#include <openvino/pass/manager.hpp>

#include "base/config.hpp"
#include "base/failure.hpp"
#include "base/trace.hpp"

#include "graph_input.hpp"
#include "refusals.hpp"

namespace softnpu {
namespace {

// Never destroyed: requests may still be inside it while the process ends.
ov::Core& core() {
  static auto* const the_core = new ov::Core;
  return *the_core;
}

// The settings of a direct user who asks for low latency: one stream on all cores, because the
// device runs one inference at a time anyway. f32 makes results equal on machines whose CPU would
// prefer bf16.
ov::AnyMap plugin_config(const CompileOptions& options) {
  ov::AnyMap map{ov::hint::performance_mode(ov::hint::PerformanceMode::LATENCY),
                 ov::hint::inference_precision(ov::element::f32),
                 ov::enable_profiling(options.profiling)};
  if (config().threads != 0) {
    map.emplace(ov::inference_num_threads(static_cast<int32_t>(config().threads)));
  }
  return map;
}

[[noreturn]] void refuse(const std::string& step, const char* message) {
  throw Failure(ZE_RESULT_ERROR_INVALID_ARGUMENT, "compiler: " + step + ": " + message);
}

ov::CompiledModel compile(const std::shared_ptr<ov::Model>& model, const CompileOptions& options) {
  try {
    return core().compile_model(model, "CPU", plugin_config(options));
  } catch (const ov::Exception& error) {
    refuse("the model cannot be compiled", error.what());
  }
}

template <class Ports>
bool varies(const Ports& ports) {
  return std::any_of(ports.begin(), ports.end(),
                     [](const auto& port) { return port.get_partial_shape().is_dynamic(); });
}

// Computes sizes that depend on weights kept as f16: a reader takes them for unknown, but compilers
// compute them. Only if outputs vary alone, because folding copies weights.
void compute_sizes(const std::shared_ptr<ov::Model>& model) {
  if (varies(model->inputs()) || !varies(model->outputs())) return;
  ov::pass::Manager manager;
  manager.register_pass<ov::pass::ConstantFolding>();
  manager.run_passes(model);
}

}  // namespace

void prepare_compiler() {
  for (const auto& [name, operators] : ov::get_available_opsets()) operators();
}

std::shared_ptr<ov::Model> read_model(const BlobParts& parts) {
  try {
    // Constants refer to these bytes and never write them. OpenVINO cannot read a constant without
    // bytes, not even one without elements.
    static std::byte none{};
    const bool has_weights = !parts.weights.empty();
    auto* const bytes = has_weights ? const_cast<std::byte*>(parts.weights.data()) : &none;
    const ov::Shape shape{has_weights ? parts.weights.size() : 1};
    auto model =
        core().read_model(std::string(parts.ir), ov::Tensor(ov::element::u8, shape, bytes));
    compute_sizes(model);
    return model;
  } catch (const ov::Exception& error) {
    refuse("the IR cannot be read", error.what());
  }
}

Program::Program(std::shared_ptr<const Image> image, const std::shared_ptr<ov::Model>& model,
                 const CompileOptions& options)
    : image_(std::move(image)), model_(compile(model, options)) {}

ov::InferRequest Program::take_request() {
  {
    const std::scoped_lock lock(mutex_);
    if (!idle_.empty()) {
      ov::InferRequest request = std::move(idle_.back());
      idle_.pop_back();
      return request;
    }
  }
  return model_.create_infer_request();
}

void Program::give_back(ov::InferRequest request) {
  const std::scoped_lock lock(mutex_);
  idle_.push_back(std::move(request));
}

namespace {

/// The last programs of the process, the latest used first.
class KeptPrograms {
 public:
  explicit KeptPrograms(size_t most) : most_(most) {}

  /// Null if none of the same bytes is kept.
  std::shared_ptr<Program> find(const Image& image) {
    const std::scoped_lock lock(mutex_);
    return find_locked(image);
  }

  /// Keeps the program, or returns the one that another thread has made of the same bytes
  /// meanwhile.
  std::shared_ptr<Program> keep(std::shared_ptr<Program> program) {
    if (most_ == 0) return program;
    std::shared_ptr<Program> dropped;  // outside the lock
    const std::scoped_lock lock(mutex_);
    if (auto other = find_locked(program->image())) return other;
    kept_.insert(kept_.begin(), std::move(program));
    if (kept_.size() > most_) {
      dropped = std::move(kept_.back());
      kept_.pop_back();
    }
    return kept_.front();
  }

 private:
  std::shared_ptr<Program> find_locked(const Image& image) {
    const auto found = std::find_if(kept_.begin(), kept_.end(), [&image](const auto& program) {
      return equal(program->image().bytes(), image.bytes());
    });
    if (found == kept_.end()) return nullptr;
    std::rotate(kept_.begin(), found, found + 1);
    return kept_.front();
  }

  static bool equal(std::span<const std::byte> a, std::span<const std::byte> b) {
    return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size()) == 0;
  }

  const size_t most_;
  std::mutex mutex_;  // guards kept_
  std::vector<std::shared_ptr<Program>> kept_;
};

// Never destroyed, like the core.
KeptPrograms& kept_programs() {
  static auto* const programs = new KeptPrograms(config().keep_compiled);
  return *programs;
}

}  // namespace

std::shared_ptr<Program> program_of(const std::shared_ptr<const Image>& image,
                                    const std::shared_ptr<ov::Model>& model,
                                    const CompileOptions& options) {
  if (image->borrows()) return std::make_shared<Program>(image, model, options);
  if (auto program = kept_programs().find(*image)) {
    trace::note_text("program", "kept");
    return program;
  }
  return kept_programs().keep(std::make_shared<Program>(image, model, options));
}

std::set<std::string> supported_layers(const std::shared_ptr<ov::Model>& model) {
  try {
    std::set<std::string> names;
    for (const auto& [name, device] : core().query_model(model, "CPU")) names.insert(name);
    if (config().refusal.quietly) return names;
    for (const auto& layer : model->get_ops()) {
      if (is_refused(*layer, config().refusal)) {
        names.erase(layer->get_friendly_name());
      }
    }
    return names;
  } catch (const ov::Exception& error) {
    refuse("the model cannot be queried", error.what());
  }
}

namespace {

std::string list_layers(const ze_graph_desc_2_t& desc) {
  const auto input = input_of(desc);
  const std::string text = flags_text_of(desc);
  const auto image =
      image_of_ir(input, text, parse_build_flags(text, compiler_version(), platform_number()));
  std::string layers;
  for (const std::string& name : supported_layers(read_model(image->parts()))) {
    layers += "<" + name + ">";
  }
  return layers;
}

}  // namespace

std::string list_supported_layers(const ze_graph_desc_2_t& desc) {
  require(desc.format == ZE_GRAPH_FORMAT_NGRAPH_LITE, ZE_RESULT_ERROR_UNSUPPORTED_ENUMERATION);
  require(desc.pInput != nullptr && desc.pBuildFlags != nullptr,
          ZE_RESULT_ERROR_INVALID_NULL_POINTER);
  try {
    return list_layers(desc);
  } catch (const Failure& failure) {
    // Intel's compiler calls unknown here what it calls an invalid argument in a compilation.
    const bool is_argument = failure.result() == ZE_RESULT_ERROR_INVALID_ARGUMENT;
    throw Failure(is_argument ? ZE_RESULT_ERROR_UNKNOWN : failure.result(), failure.what());
  }
}

}  // namespace softnpu
