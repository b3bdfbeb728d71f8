#pragma once

#include <string>

#include <npucore/model.hpp>

#include "cache/model_cache.hpp"
#include "model/compiled_model_impl.hpp"

namespace npu::internal {

/// The folder of CACHE_DIR and CACHE_SIZE.
ModelCache cache_of(const Properties& properties);

/// Throws Error(kInvalidArgument) for a CACHE_ID without a CACHE_DIR.
void check_cache_id(const Properties& properties);

/// Loads the entry that the model's key names; the ports are the model's. False if there is none.
/// Removes one that cannot be loaded.
bool load_entry_of_model(CompiledModel::Impl& compiled, const ModelCache& cache,
                         const std::string& key, const std::string& title, const PortHints& ports);

enum class Found { kNothing, kLoaded, kUnusable };

/// Loads the entry that CACHE_ID names, with the names and frames that it was stored with. Warns of
/// an entry that cannot be loaded, or whose inputs, outputs or frames are not those of `model`
/// (null: any). Such an entry stays: there may be nothing else to start from when the device works
/// again.
Found load_entry_of_id(CompiledModel::Impl& compiled, const ModelCache& cache,
                       const std::string& key, const Model* model);

/// Keeps the compiled model under the key; false if it was not kept.
bool store_entry(CompiledModel::Impl& compiled, const ModelCache& cache, const std::string& key);

}  // namespace npu::internal
