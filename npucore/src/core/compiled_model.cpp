#include "npucore/compiled_model.hpp"

#include <mutex>
#include <utility>

#include "base/log.hpp"
#include "base/text.hpp"
#include "core/build_flags.hpp"
#include "core/compiled_model_state.hpp"
#include "core/request_state.hpp"
#include "ir/serialize.hpp"
#include "npucore/error.hpp"

namespace npu {
namespace {

using base::text;
using internal::CompiledModelState;

ze_graph_flags_t graph_flags(const CompileOptions& options) {
  ze_graph_flags_t flags = 0;
  if (options.bypass_driver_cache) flags |= ZE_GRAPH_FLAG_DISABLE_CACHING;
  if (options.profiling) flags |= ZE_GRAPH_FLAG_ENABLE_PROFILING;
  return flags;
}

ir::CompilerVersion compiler_of(const Device& device) {
  const Version& version = device.info().compiler;
  if (version.major == 0 && version.minor == 0)
    throw Error(ErrorCode::kUnsupported,
                text("the driver of ", device.info().name,
                     " has no compiler: install it, or import a blob made elsewhere"));
  return {static_cast<std::uint16_t>(version.major), static_cast<std::uint16_t>(version.minor)};
}

/// Drivers before graph extension 1.5 have no flag for it.
std::map<std::string, std::string> compiler_config(const CompileOptions& options,
                                                   const ze::GraphTable& graph) {
  auto config = options.config;
  if (options.profiling && !graph.has(5)) config.emplace("PERF_COUNT", "YES");
  return config;
}

std::string model_title(const Model& model) {
  return text("model ", base::quoted(model.name()), " (", model.path().string(), ')');
}

std::size_t index_of(const std::vector<Port>& ports, const std::string& name, const char* what) {
  std::vector<std::string> known;
  for (std::size_t index = 0; index < ports.size(); ++index) {
    if (ports[index].answers_to(name)) return index;
    known.push_back(ports[index].name);
    known.insert(known.end(), ports[index].tensor_names.begin(), ports[index].tensor_names.end());
  }
  throw Error(ErrorCode::kNotFound, text("no ", what, " is called ", base::quoted(name),
                                         "; there are: ", base::join(known, ", ")));
}

}  // namespace

CompiledModel CompiledModel::compile(const Device& device, const Model& model,
                                     const CompileOptions& options) {
  model.check_supported();
  const ir::CompilerVersion compiler = compiler_of(device);
  for (const auto& warning : model.warnings())
    base::log(LogLevel::kWarning, text(model_title(model), ": ", warning));
  auto state = std::make_shared<CompiledModelState>(device, options);
  state->name = model.name();
  state->frame_input = model.frame_input();
  state->model_info = model.model_info();

  ze::GraphSource source;
  source.format = ZE_GRAPH_FORMAT_NGRAPH_LITE;
  source.build_flags = internal::build_flags(ir::flag_ports(model), compiler,
                                             compiler_config(options, device.state()->ze.graph));
  source.flags = graph_flags(options);
  source.what = "compiling " + model_title(model);
  // Compilers take as much memory as they find: one at a time.
  static std::mutex compiling;
  std::scoped_lock lock(compiling);
  const ir::SerializedModel serialized = ir::serialize(model, compiler);
  source.bytes = serialized.bytes();
  state->load(source, {model.inputs(), model.outputs()});
  return CompiledModel(std::move(state));
}

CompiledModel::CompiledModel(std::shared_ptr<internal::CompiledModelState> state)
    : state_(std::move(state)) {}
CompiledModel::~CompiledModel() = default;
CompiledModel::CompiledModel(const CompiledModel&) = default;
CompiledModel::CompiledModel(CompiledModel&&) noexcept = default;
CompiledModel& CompiledModel::operator=(const CompiledModel&) = default;
CompiledModel& CompiledModel::operator=(CompiledModel&&) noexcept = default;

const Device& CompiledModel::device() const {
  return state_->public_device;
}

const std::vector<Port>& CompiledModel::inputs() const {
  return state_->inputs;
}
const std::vector<Port>& CompiledModel::outputs() const {
  return state_->outputs;
}

std::size_t CompiledModel::input_index(const std::string& name) const {
  return index_of(state_->inputs, name, "input");
}

std::size_t CompiledModel::output_index(const std::string& name) const {
  return index_of(state_->outputs, name, "output");
}

const std::optional<FrameInput>& CompiledModel::frame_input() const {
  return state_->frame_input;
}

const std::map<std::string, std::string>& CompiledModel::model_info() const {
  return state_->model_info;
}

const LoadStats& CompiledModel::load_stats() const {
  return state_->stats;
}

std::vector<std::byte> CompiledModel::native_binary() const {
  std::vector<std::byte> copy;
  const auto view = state_->graph->native_binary(copy);
  if (view.data() != copy.data()) copy.assign(view.begin(), view.end());
  return copy;
}

Request CompiledModel::create_request() const {
  return Request(std::make_unique<internal::RequestState>(state_));
}

}  // namespace npu
