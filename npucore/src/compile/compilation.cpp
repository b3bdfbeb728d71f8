#include "compilation.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdlib>
#include <optional>
#include <utility>

#include <npucore/error.hpp>

#include "base/api.hpp"
#include "base/enum_names.hpp"
#include "base/exit_watch.hpp"
#include "base/forked.hpp"
#include "base/log.hpp"
#include "base/pimpl.hpp"
#include "base/text.hpp"
#include "ir/serialize.hpp"
#include "ir/states.hpp"
#include "properties/build_flags.hpp"
#include "ze/device_queries.hpp"

#include "blob.hpp"
#include "cached_model.hpp"
#include "compile_task.hpp"
#include "compile_turn.hpp"
#include "preflight.hpp"

namespace npu {
namespace {

using base::EnumName;

constexpr std::array kPhases = {
    EnumName<CompilePhase>{CompilePhase::kCacheLookup, "cache lookup"},
    EnumName<CompilePhase>{CompilePhase::kWaiting, "waiting"},
    EnumName<CompilePhase>{CompilePhase::kSerializing, "serializing"},
    EnumName<CompilePhase>{CompilePhase::kCompiling, "compiling"},
    EnumName<CompilePhase>{CompilePhase::kInitializing, "initializing"},
    EnumName<CompilePhase>{CompilePhase::kDone, "done"},
};

/// While one lives, its thread compiles.
class Compiling {
 public:
  Compiling() : was_(std::exchange(compiles_, true)) {}
  Compiling(const Compiling&) = delete;
  Compiling& operator=(const Compiling&) = delete;
  ~Compiling() { compiles_ = was_; }
  bool is_nested() const { return was_; }

 private:
  static inline thread_local bool compiles_ = false;
  const bool was_;
};

}  // namespace

const char* to_string(CompilePhase phase) {
  return base::name_of(kPhases, phase);
}

namespace internal {
namespace {

using base::text;

bool bypasses_driver_cache(const Properties& properties) {
  const bool own_cache = !properties.get(property::cache_dir).empty();
  return own_cache || properties.get(property::bypass_driver_cache);
}

/// The property decides, else the environment, else jobs use a helper.
bool wants_helper(const Properties& properties, bool is_job) {
  std::string where = properties.get(property::compile_in);
  if (const char* wanted = std::getenv("NPUCORE_COMPILE"); where.empty() && wanted && *wanted) {
    where = Properties().set(property::compile_in, wanted).get(property::compile_in);
  }
  return where.empty() ? is_job : where == "helper";
}

void tell_of_no_helper(const char* reason) {
  static std::atomic<bool> told = false;
  base::log(told.exchange(true) ? LogLevel::kDebug : LogLevel::kWarning,
            text("models are compiled in this process, where a compilation cannot be ended, "
                 "nor limited by NPUCORE_COMPILE_TIMEOUT and NPUCORE_COMPILE_MEMORY: ",
                 reason, " (NPUCORE_COMPILE=in-process asks for that)"));
}

}  // namespace

Compilation::Compilation(const Device& device, const Model& model, const CompileOptions& options,
                         Cancellation* cancellation)
    : model_(model),
      options_(options),
      cancellation_(cancellation),
      replaces_entry_(options.replace_cached) {
  model.check_supported();
  for (const auto& warning : model.warnings()) {
    base::log(LogLevel::kWarning, text(model_title(model), ": ", warning));
  }
  compiled_ = std::make_shared<CompiledModel::Impl>(device, options);
  const Properties properties = compiled_->properties.values();
  check_cache_id(properties);
  describe_by_model();
  choice_.emplace(*compiled_->device, properties, options.config, cancellation);
}

void Compilation::describe_by_model() {
  compiled_->name = model_.name();
  compiled_->frame_input = model_.frame_input();
  compiled_->model_info = model_.model_info();
  compiled_->built_with = built_with(compiled_->device->info);
  const auto tiles = compiled_->properties.values().get(property::tiles);  // -1: not said
  compiled_->built_with.tiles = static_cast<std::uint32_t>(std::max<std::int64_t>(tiles, 0));
}

void Compilation::enter(CompilePhase phase) const {
  check_cancelled();
  if (options_.progress) {
    options_.progress({phase, std::chrono::steady_clock::now() - start_});
    base::refuse_after_fork();  // the function may have forked, and this be the child
  }
}

const std::atomic<bool>* Compilation::cancelled() const {
  return cancellation_ ? &cancellation_->flag() : nullptr;
}

void Compilation::check_cancelled() const {
  if (cancellation_ && cancellation_->requested()) {
    throw Error(ErrorCode::kCancelled, text("compiling ", model_title(model_), " was cancelled"));
  }
}

std::shared_ptr<CompiledModel::Impl> Compilation::run() {
  const base::CollectedWarnings warnings;
  if (compiled_->properties.values().get(property::cache_dir).empty()) {
    compile_graph();
  } else {
    use_cache();
  }
  compiled_->stats.load_ns = static_cast<std::uint64_t>(
      std::chrono::nanoseconds(std::chrono::steady_clock::now() - start_).count());
  enter(CompilePhase::kDone);
  compiled_->stats.warnings = warnings.texts();
  return std::move(compiled_);
}

/// The weights are read for it, unless there is a CACHE_ID.
std::string Compilation::cache_key() const {
  const std::string id = compiled_->properties.values().get(property::cache_id);
  const Compiler& compiler = choice_->compiler();
  return id.empty() ? key_of_model(ir::content_hash(model_),
                                   build_flags(ir::flag_ports(model_, compiler.version),
                                               compiler.version, in_cache_key(choice_->config())),
                                   choice_->compiled_by())
                    : key_of_id(id, choice_->config(), choice_->compiled_by());
}

void Compilation::use_cache() {
  enter(CompilePhase::kCacheLookup);
  const Properties properties = compiled_->properties.values();
  const ModelCache cache = cache_of(properties);
  const std::string key = cache_key();
  if (load_from_cache(cache, key)) return;
  // Taken before the turn, never while holding it, so that two threads cannot wait for each other.
  // Not taken when nested: a progress function or log sink that compiles would wait for its own
  // thread.
  const Compiling compiling;
  const auto lock = compiling.is_nested() ? std::nullopt : cache.lock(key, cancelled());
  if (load_from_cache(cache, key)) return;
  compile_graph();
  if (!store_entry(*compiled_, cache, key) && replaces_entry_) {
    cache.forget(key);  // nobody may take the old model for this one
  }
}

/// False if the model is to be compiled.
bool Compilation::load_from_cache(const ModelCache& cache, const std::string& key) {
  if (replaces_entry_) return false;
  if (compiled_->properties.values().get(property::cache_id).empty()) {
    return load_entry_of_model(*compiled_, cache, key, model_title(model_), port_hints());
  }
  const Found found = load_entry_of_id(*compiled_, cache, key, &model_);
  if (found == Found::kLoaded) return true;
  replaces_entry_ = found == Found::kUnusable;
  describe_by_model();  // again: an entry that did not load may have named it
  return false;
}

PortHints Compilation::port_hints() const {
  return {model_.inputs(), model_.outputs(), ir::initial_states(model_)};
}

void Compilation::compile_graph() {
  enter(CompilePhase::kWaiting);
  if (choice_->library() && compile_with_library()) return;
  if (wants_helper(compiled_->properties.values(), cancellation_ != nullptr)) {
    try {
      compile_in_helper();
      return;
    } catch (const HelperUnavailable& reason) {
      helper_.reset();
      check_cancelled();
      tell_of_no_helper(reason.what());
    }
  }
  compile_in_turn();
}

void Compilation::compile_in_turn() {
  const CompileTurn turn(cancelled());
  // Nobody waits for a job's thread.
  std::optional<base::RunsWhileExiting> running;
  if (cancellation_) {
    running.emplace();
  }
  compile_in_driver();
}

/// False if the driver does not take the library's blob; it may compile by itself then.
bool Compilation::compile_with_library() {
  const Properties properties = compiled_->properties.values();
  enter(CompilePhase::kSerializing);
  const CompileTask task =
      compile_task(model_, choice_->compiler(), properties, choice_->config(), compiled_->stats);
  enter(CompilePhase::kCompiling);
  LibraryResult made = choice_->library()->compile(task);
  try {
    load_made(std::move(made.blob), "from the compiler library");
  } catch (const Error& error) {
    const bool may = properties.get(property::compiler_type) == "PREFER_PLUGIN";
    if (!may || error.code() != ErrorCode::kIncompatible) throw;
    base::log(LogLevel::kWarning,
              text(error.what(),
                   "; the driver's compiler is used instead: NPU_COMPILER_TYPE=DRIVER "
                   "saves the attempt"));
    compiled_->unload();
    choice_->take_driver();
    return false;
  }
  compiled_->stats.serialized_bytes = made.serialized_bytes;
  compiled_->stats.compile_ns += made.compile_ns;
  compiled_->stats.from = LoadedFrom::kCompiler;
  return true;
}

/// Loads a blob that another process has made.
void Compilation::load_made(ContentView made, const char* by) {
  const auto blob = std::make_shared<ContentView>(std::move(made));
  compiled_->received = blob;
  load_blob_of(*compiled_, blob->bytes(), text(model_title(model_), ' ', by), port_hints(),
               [this] { enter(CompilePhase::kInitializing); });
}

/// Serializes the model, and gives the source its build flags.
ir::SerializedModel Compilation::serialize(ze::GraphSource& source) {
  const Properties properties = compiled_->properties.values();
  const Compiler& compiler = choice_->compiler();
  CompilerConfig config = choice_->config();
  const bool weightless = choose_weightless(model_, compiler, properties, config, compiled_->stats);
  source.build_flags =
      build_flags(ir::flag_ports(model_, compiler.version), compiler.version, config);
  if (!weightless) return ir::serialize(model_, compiler.version);
  source.input_hash = ir::content_hash(model_);
  const auto threshold = properties.get(property::serializer_threshold);
  return ir::serialize_weightless(model_, compiler.version, threshold);
}

void Compilation::compile_in_driver() {
  enter(CompilePhase::kSerializing);
  ze::GraphSource source;
  const ir::SerializedModel serialized = serialize(source);
  source.format = ze::GraphSource::Format::kModel;
  source.bytes = serialized.bytes();
  const Properties properties = compiled_->properties.values();
  source.profile_layers = wants_layer_times(properties);
  source.bypass_cache = bypasses_driver_cache(properties);
  source.what = "compiling " + model_title(model_);
  compiled_->stats.serialized_bytes = source.bytes.size();
  enter(CompilePhase::kCompiling);
  load_from(source);
  compiled_->stats.from =
      compiled_->stats.loaded_from_driver_cache ? LoadedFrom::kDriverCache : LoadedFrom::kCompiler;
}

void Compilation::load_from(const ze::GraphSource& model) try {
  compiled_->load(model, port_hints(), [this] { enter(CompilePhase::kInitializing); });
} catch (const Error& error) {
  if (error.code() != ErrorCode::kCompileFailed) throw;
  const auto place = place_on(compiled_->device);
  throw with_refused_layers(error, ir::layer_names(model_),
                            ze::supported_layers(*place.context, model));
}

HelperTask Compilation::helper_task() {
  const Properties properties = compiled_->properties.values();
  HelperTask task{
      compile_task(model_, choice_->compiler(), properties, choice_->config(), compiled_->stats)};
  task.version = choice_->compiler().version;
  if (task.weightless) {
    task.input_hash = ir::content_hash(model_);
  }
  task.profile_layers = wants_layer_times(properties);
  task.bypass_cache = bypasses_driver_cache(properties);
  return task;
}

void Compilation::compile_in_helper() {
  helper_ = std::make_unique<HelperClient>(compiled_->device->info, cancellation_,
                                           compile_deadline(compiled_->properties.values()));
  enter(CompilePhase::kSerializing);
  HelperResult made = helper_->compile(helper_task(), [this] { enter(CompilePhase::kCompiling); });
  load_made(std::move(made.blob), "from the helper process");
  const std::uint32_t tiles = compiled_->built_with.tiles;  // as the blob says
  compiled_->built_with = built_with(compiled_->device->info);
  compiled_->built_with.tiles = tiles;
  LoadStats& stats = compiled_->stats;
  stats.serialized_bytes = made.serialized_bytes;
  stats.compile_ns += made.compile_ns;
  stats.loaded_from_driver_cache = made.from_driver_cache;
  stats.from = made.from_driver_cache ? LoadedFrom::kDriverCache : LoadedFrom::kCompiler;
}

}  // namespace internal

CompiledModel CompiledModel::compile(const Device& device, const Model& model,
                                     const CompileOptions& options) {
  return base::only_errors(
      [&] { return CompiledModel(internal::Compilation(device, model, options).run()); });
}

}  // namespace npu
