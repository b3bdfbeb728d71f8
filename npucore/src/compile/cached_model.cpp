#include "cached_model.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <optional>
#include <utility>
#include <vector>

#include <npucore/error.hpp>

#include "base/api.hpp"
#include "base/log.hpp"
#include "base/pimpl.hpp"
#include "base/text.hpp"
#include "cache/cache_key.hpp"
#include "ir/blob_container.hpp"

#include "blob.hpp"
#include "compile_task.hpp"
#include "compiler_choice.hpp"

namespace npu {
namespace internal {
namespace {

using base::text;

std::string title_of_id(const CompiledModel::Impl& compiled) {
  return text("the entry ", base::quoted(compiled.properties.values().get(property::cache_id)),
              " of the cache");
}

/// Empty if `load` loaded the hit, else the reason that it cannot be loaded. Throws what says
/// nothing of the entry.
template <class Load>
std::string why_not_loaded(CompiledModel::Impl& compiled, ModelCache::Hit hit, const Load& load) {
  try {
    compiled.file = std::move(hit.file);
    load(hit.blob);
  } catch (const Error& error) {
    if (error.code() == ErrorCode::kOutOfMemory || error.code() == ErrorCode::kDeviceLost) throw;
    compiled.unload();
    return error.what();
  }
  compiled.stats.from = LoadedFrom::kCache;
  return {};
}

/// Whether tensors of the ports have the same bytes, as far as the model's are known.
bool same_sizes(const std::vector<Port>& of_model, const std::vector<Port>& of_entry) {
  return std::equal(of_model.begin(), of_model.end(), of_entry.begin(), of_entry.end(),
                    [](const Port& port, const Port& kept) {
                      const auto& shape = port.shape;
                      const bool open = std::find(shape.begin(), shape.end(), -1) != shape.end();
                      return open || port.size_bytes() == kept.size_bytes();
                    });
}

std::string frame_text(const std::optional<FrameInput>& frame) {
  ir::BlobDescription description;
  description.frame_input = frame;
  return ir::write_description(description, 0);
}

bool may_be_of(const Model& model, const ir::BlobDescription& entry) {
  return same_sizes(model.inputs(), entry.inputs) && same_sizes(model.outputs(), entry.outputs) &&
         frame_text(model.frame_input()) == frame_text(entry.frame_input);
}

/// False, with a warning, if the entry is of another model than this.
bool fits(const CompiledModel::Impl& compiled, const ModelCache::Hit& hit, const Model* model) {
  if (!model) return true;
  const auto entry = ir::open_blob(hit.blob, title_of_id(compiled)).description;
  if (!entry || may_be_of(*model, *entry)) return true;
  base::log(LogLevel::kWarning,
            text(title_of_id(compiled),
                 " was made of another model: its inputs, outputs or frames "
                 "are not those of ",
                 model_title(*model),
                 ", which is compiled and replaces it; give each model an id of its own"));
  return false;
}

}  // namespace

ModelCache cache_of(const Properties& properties) {
  return {properties.get(property::cache_dir), properties.get(property::cache_size)};
}

void check_cache_id(const Properties& properties) {
  const std::string id = properties.get(property::cache_id);
  if (id.empty() || !properties.get(property::cache_dir).empty()) return;
  throw Error(ErrorCode::kInvalidArgument,
              text("CACHE_ID is ", base::quoted(id),
                   ", but there is no cache: set CACHE_DIR to the folder to look in"));
}

bool load_entry_of_model(CompiledModel::Impl& compiled, const ModelCache& cache,
                         const std::string& key, const std::string& title, const PortHints& ports) {
  auto hit = cache.find(key);
  if (!hit) return false;
  const auto why = why_not_loaded(compiled, std::move(*hit), [&](Bytes blob) {
    load_blob_of(compiled, blob, title + " from the cache", ports);
  });
  if (why.empty()) return true;
  cache.remove(key, why);
  return false;
}

Found load_entry_of_id(CompiledModel::Impl& compiled, const ModelCache& cache,
                       const std::string& key, const Model* model) {
  auto hit = cache.find(key);
  if (!hit) return Found::kNothing;
  if (!fits(compiled, *hit, model)) return Found::kUnusable;
  const auto why = why_not_loaded(compiled, std::move(*hit), [&](Bytes blob) {
    load_blob(compiled, blob, title_of_id(compiled));
  });
  if (why.empty()) return Found::kLoaded;
  base::log(LogLevel::kWarning, text(title_of_id(compiled), " is not used: ", why));
  return Found::kUnusable;
}

bool store_entry(CompiledModel::Impl& compiled, const ModelCache& cache, const std::string& key) {
  const ExportedBlob blob = export_parts(compiled);
  const std::array<Bytes, 2> parts = {blob.native, blob.trailer};
  return cache.store(key, parts);
}

namespace {

/// Looks up the entry that the properties name.
bool load_named(CompiledModel::Impl& compiled, const CompileOptions& options) {
  const Properties properties = compiled.properties.values();
  const std::string id = properties.get(property::cache_id);
  if (id.empty()) {
    throw Error(ErrorCode::kInvalidArgument,
                "CompiledModel::load_cached() finds a model by its id: set the property CACHE_ID, "
                "or compile the model, which needs none");
  }
  check_cache_id(properties);
  // Such a driver compiled nothing that could be there.
  const bool by_driver = properties.get(property::compiler_type) == "DRIVER";
  if (by_driver && !has_compiler(compiled.device->info)) return false;
  const CompilerChoice choice(*compiled.device, properties, options.config, nullptr);
  const auto key = key_of_id(id, choice.config(), choice.compiled_by());
  return load_entry_of_id(compiled, cache_of(properties), key, nullptr) == Found::kLoaded;
}

}  // namespace
}  // namespace internal

std::optional<CompiledModel> CompiledModel::load_cached(const Device& device,
                                                        const CompileOptions& options) {
  return base::only_errors([&]() -> std::optional<CompiledModel> {
    const auto start = std::chrono::steady_clock::now();
    const base::CollectedWarnings warnings;
    auto impl = std::make_shared<Impl>(device, options);
    if (!internal::load_named(*impl, options)) return std::nullopt;
    impl->stats.load_ns = static_cast<std::uint64_t>(
        std::chrono::nanoseconds(std::chrono::steady_clock::now() - start).count());
    impl->stats.warnings = warnings.texts();
    return CompiledModel(std::move(impl));
  });
}

}  // namespace npu
