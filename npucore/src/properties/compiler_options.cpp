#include "compiler_options.hpp"

#include <sstream>
#include <vector>

#include <npucore/error.hpp>

#include "base/log.hpp"
#include "base/text.hpp"
#include "ze/platforms.hpp"

#include "property_table.hpp"

namespace npu::internal {
namespace {

using base::text;

constexpr const char* kSerializerOption = property::serializer.name;

std::uint32_t word(ir::CompilerVersion version) {
  return std::uint32_t{version.major} << 16 | version.minor;
}

std::string version_text(std::uint32_t version) {
  return text(version >> 16, '.', version & 0xffff);
}

/// True for a value that states the compiler's default, or that the compiler has no word for.
bool goes_without_saying(const std::string& name, const std::string& value) {
  return value.empty() || (name == property::tiles.name && value == "-1") ||
         (name == property::compilation_num_threads.name && value == "0") ||
         (name == property::performance_hint.name && value == "UNDEFINED") ||
         (name == property::platform.name && value == "AUTO_DETECT");
}

/// Compilers before 5.7 do not know two of the parameters, and refuse them.
std::string mode_params_for(ir::CompilerVersion compiler, const std::string& params) {
  constexpr std::uint32_t kKnowsBoth = 5 << 16 | 7;
  if (word(compiler) >= kKnowsBoth) return params;
  std::istringstream words(params);
  words.imbue(std::locale::classic());
  std::vector<std::string> kept;
  for (std::string param; words >> param;) {
    if (param.rfind("optimization-level=", 0) != 0 &&
        param.rfind("performance-hint-override=", 0) != 0) {
      kept.push_back(param);
    }
  }
  return base::join(kept, " ");
}

std::string value_for(ir::CompilerVersion compiler, const std::string& name,
                      const std::string& value) {
  if (name == property::compilation_mode_params.name) return mode_params_for(compiler, value);
  if (name == property::performance_hint.name && value == "CUMULATIVE_THROUGHPUT") {
    return "THROUGHPUT";
  }
  return value;
}

bool takes(const Compiler& compiler, const PropertyRow& row) {
  if (const auto told = compiler.takes(row.info.name.c_str(), nullptr)) return *told;
  return word(compiler.version) >= row.info.oldest_compiler;
}

/// True if the option is to be sent.
bool admit(const Compiler& compiler, const PropertyRow& row) {
  if (takes(compiler, row)) return true;
  const std::string since = row.info.oldest_compiler == 0
                                ? ""
                                : " (since " + version_text(row.info.oldest_compiler) + ')';
  const std::string sentence = text("the driver's compiler ", version_text(word(compiler.version)),
                                    " does not know ", row.info.name, since);
  if (!row.optional_for_compiler) {
    throw Error(ErrorCode::kUnsupported,
                sentence + ": leave it out, or update the NPU driver and its compiler");
  }
  base::log(LogLevel::kDebug, sentence + ": left out");
  return false;
}

void check_tiles(const DeviceInfo& device, const Properties& properties) {
  const std::int64_t tiles = properties.get(property::tiles);
  const std::int64_t most = max_tiles(device, properties);
  if (most > 0 && tiles > most) {
    throw Error(
        ErrorCode::kInvalidArgument,
        text("NPU_TILES is ", tiles, ", but there are ", most,
             properties.is_set(property::max_tiles) ? " (NPU_MAX_TILES)" : " on the device",
             ": use no more than that, or set NPU_MAX_TILES to compile for another device"));
  }
}

}  // namespace

CompilerConfig compiler_config(const Compiler& compiler, const DeviceInfo& device,
                               const Properties& properties) {
  check_tiles(device, properties);
  CompilerConfig config;
  for (const auto& [name, set] : properties.values()) {
    const PropertyRow* row = find_property_row(name);
    if (!row->info.compile_time || name == kSerializerOption) continue;
    const std::string value = value_for(compiler.version, name, set);
    if (!goes_without_saying(name, value) && admit(compiler, *row)) {
      config[name] = value;
    }
  }
  return config;
}

CompilerConfig in_cache_key(const CompilerConfig& config) {
  CompilerConfig kept;
  for (const auto& [name, value] : config) {
    const PropertyRow* row = find_property_row(name);
    if (!row || row->info.in_cache_key) {
      kept[name] = value;
    }
  }
  return kept;
}

Serializer choose_serializer(const Compiler& compiler, const Properties& properties) {
  const Serializer asked = properties.get(property::serializer);
  if (asked == Serializer::kAllWeightsCopy) return asked;
  const char* by_address = to_string(Serializer::kNoWeightsCopy);
  const bool can = compiler.takes(kSerializerOption, by_address).value_or(false);
  if (can) return Serializer::kNoWeightsCopy;
  if (asked == Serializer::kNoWeightsCopy) {
    throw Error(ErrorCode::kUnsupported,
                text("the driver's compiler ", version_text(word(compiler.version)),
                     " does not take weights by address (", kSerializerOption, '=', by_address,
                     "): use AUTO or ALL_WEIGHTS_COPY, or update the NPU driver"));
  }
  return Serializer::kAllWeightsCopy;
}

bool wants_layer_times(const Properties& properties) {
  return properties.get(property::profiling) && properties.get(property::profiling_type) == "MODEL";
}

std::int64_t max_tiles(const DeviceInfo& device, const Properties& properties) {
  if (properties.is_set(property::max_tiles)) return properties.get(property::max_tiles);
  const std::string platform = properties.get(property::platform);
  if (platform == "AUTO_DETECT" || platform == device.platform) return device.tiles;
  const auto* const known = ze::known_platform(platform);
  return known ? known->numTiles : 0;
}

}  // namespace npu::internal
