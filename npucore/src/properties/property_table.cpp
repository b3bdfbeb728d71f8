#include "property_table.hpp"

#include <algorithm>
#include <memory>
#include <numeric>
#include <optional>
#include <utility>

#include <npucore/error.hpp>

#include "base/api.hpp"
#include "base/text.hpp"
#include "ze/platforms.hpp"

#include "property_values.hpp"

namespace npu::internal {
namespace {

using base::text;

constexpr std::uint32_t compiler(std::uint32_t major, std::uint32_t minor) {
  return major << 16 | minor;
}

std::string platforms(std::string_view separator) {
  return base::join(ze::platform_names(), separator);
}

PropertyRow read_only(const char* name, std::string values, const char* meaning, bool of_device,
                      bool of_model) {
  PropertyRow row;
  row.info.name = name;
  row.info.values = std::move(values);
  row.info.meaning = meaning;
  row.info.of_device = of_device;
  row.info.of_model = of_model;
  return row;
}
PropertyRow device_fact(const char* name, std::string values, const char* meaning) {
  return read_only(name, std::move(values), meaning, true, false);
}
PropertyRow model_fact(const char* name, const char* values, const char* meaning) {
  return read_only(name, values, meaning, false, true);
}
PropertyRow fact_of_both(const char* name, std::string values, const char* meaning) {
  return read_only(name, std::move(values), meaning, true, true);
}

/// A row that steers npucore or the driver's queue, not the compiler.
PropertyRow setting(const char* name, NormalizeValue normalize, std::string values,
                    const char* default_value, const char* meaning) {
  PropertyRow row = fact_of_both(name, std::move(values), meaning);
  row.info.access = Access::kReadWrite;
  row.info.default_value = default_value;
  row.normalize = normalize;
  return row;
}
/// A row that a device has no default for.
PropertyRow of_models_only(PropertyRow row) {
  row.info.of_device = false;
  return row;
}
PropertyRow changeable(PropertyRow row) {
  row.info.changeable = true;
  return row;
}

/// A row that goes to the compiler when it is set.
PropertyRow for_compiler(PropertyRow row, std::uint32_t oldest_compiler = 0) {
  row.info.compile_time = true;
  row.info.in_cache_key = true;
  row.info.oldest_compiler = oldest_compiler;
  return row;
}
/// A row that goes to compilers that take it.
PropertyRow offered_to_compiler(PropertyRow row, std::uint32_t oldest_compiler = 0) {
  row = for_compiler(std::move(row), oldest_compiler);
  row.optional_for_compiler = true;
  return row;
}
/// A row that goes to the compiler, but does not change the blob.
PropertyRow not_in_key(PropertyRow row) {
  row.info.in_cache_key = false;
  return row;
}

/// Another name for a row, with values of its own.
PropertyRow alias(PropertyRow row, const char* kept_as, NormalizeValue read_back) {
  row.kept_as = kept_as;
  row.read_back = read_back;
  return row;
}

std::vector<PropertyRow> facts() {
  return {
      device_fact("SUPPORTED_CONFIG_KEYS", "list", "the names that can be written"),
      device_fact("SUPPORTED_METRICS", "list", "the names that can only be read"),
      fact_of_both("SUPPORTED_PROPERTIES", "list of NAME:RW or NAME:RO",
                   "every name with its access"),
      device_fact("CACHING_PROPERTIES", "list",
                  "the properties that go into the key of CACHE_DIR's entries"),
      device_fact("CACHE_HEADER_ALIGNMENT", "bytes",
                  "alignment to which the blob in an exported file is padded"),
      device_fact("AVAILABLE_DEVICES", "list",
                  "the platform of each NPU that the loader offers this process"),
      device_fact("FULL_DEVICE_NAME", "text", "the device's name, from its driver"),
      device_fact("DEVICE_UUID", "32 hexadecimal digits", "identifies the device"),
      device_fact("DEVICE_ARCHITECTURE", platforms(", "),
                  "the device's platform; empty if its PCI id is unknown"),
      device_fact("DEVICE_TYPE", "INTEGRATED, DISCRETE", "whether it shares the CPU's memory"),
      device_fact("DEVICE_GOPS", "list of TYPE:NUMBER",
                  "peak operations per second by element type, in 10^9, from the clock, tiles and "
                  "width that the driver reports"),
      device_fact("DEVICE_PCI_INFO", "DOMAIN:BUS:DEVICE.FUNCTION", "its address on the PCI bus"),
      device_fact("NPU_DEVICE_ALLOC_MEM_SIZE", "bytes",
                  "memory that this process's context has allocated on the device"),
      device_fact("NPU_DEVICE_TOTAL_MEM_SIZE", "bytes", "memory that the device can use"),
      device_fact("NPU_DRIVER_VERSION", "number", "version of the user-mode driver"),
      device_fact("NPU_COMPILER_VERSION", "number",
                  "version of the driver's compiler, (major << 16) | minor; 0: it has none"),
      device_fact("OPTIMIZATION_CAPABILITIES", "list", "FP16, INT8 and EXPORT_IMPORT"),
      fact_of_both(
          "OPTIMAL_NUMBER_OF_INFER_REQUESTS", "number",
          "requests to keep in flight: with THROUGHPUT 4 on 3720 and 8 on later platforms, "
          "else 1; no more than PERFORMANCE_HINT_NUM_REQUESTS if that is set"),
      device_fact("RANGE_FOR_ASYNC_INFER_REQUESTS", "FROM,TO,STEP",
                  "requests of one model that can be in flight at once"),
      device_fact("RANGE_FOR_STREAMS", "FROM,TO", "the numbers that NUM_STREAMS takes"),
      model_fact("NETWORK_NAME", "text", "the model's name"),
      model_fact("EXECUTION_DEVICES", "npu, software", "what runs the model"),
      model_fact("LOADED_FROM_CACHE", "YES, NO", "from CACHE_DIR or the driver's own cache"),
      model_fact("RUNTIME_REQUIREMENTS", "meta=N.N;ov=N.N.N;desc=[NAME=VALUE;...]",
                 "platform, tiles, and versions of compiler, blob format (elf) and firmware "
                 "interface (mi) that the model was compiled for, as far as known"),
      fact_of_both("COMPATIBILITY_CHECK", "SUPPORTED, UNSUPPORTED, NOT_APPLICABLE",
                   "whether the device runs a model with given RUNTIME_REQUIREMENTS: of a model "
                   "its own, of a device those of get_property()'s second argument"),
  };
}

std::vector<PropertyRow> settings() {
  return {
      setting("PERFORMANCE_HINT_NUM_REQUESTS", whole_number, "0 and up", "1",
              "requests that the application plans to have in flight; if set, it limits "
              "OPTIMAL_NUMBER_OF_INFER_REQUESTS, unless 0"),
      setting("MODEL_PRIORITY", priority_name, "LOW | MEDIUM | HIGH", "MEDIUM",
              "priority of the model's queue"),
      setting("NUM_STREAMS", streams_number, text("AUTO | 0..", kMostStreams), "AUTO",
              "taken and without effect: no threads run requests; the application keeps as many in "
              "flight as it wants, on one queue"),
      changeable(setting("WORKLOAD_TYPE", workload_type_name, "DEFAULT | EFFICIENT", "DEFAULT",
                         "EFFICIENT runs when nothing else needs the device")),
      setting(
          "ENABLE_CPU_PINNING", yes_no, "YES | NO", "NO",
          "pin the threads that call the callbacks of requests to one CPU; npucore has no other "
          "threads while a model runs"),
      setting("CACHE_DIR", folder, "folder", "",
              "keep compiled models in this folder; the driver's own cache is then bypassed"),
      of_models_only(
          setting("CACHE_ID", any_text, "text", "",
                  "the caller's own name for the model's entry in CACHE_DIR, which is then found "
                  "without reading the model or its weights")),
      setting("CACHE_SIZE", byte_count, "bytes, or with K, M, G", "4294967296",
              "largest size of CACHE_DIR; the least recently used entries are deleted first"),
      setting("DEVICE_ID", device_id, "empty | " + platforms(" | "), "",
              "refuse a device of another platform; empty accepts any"),
      setting("EXCLUSIVE_ASYNC_REQUESTS", yes_no, "YES | NO", "NO",
              "one thread for the callbacks of all models that set it"),
      setting("NPU_BYPASS_UMD_CACHING", yes_no, "YES | NO", "NO", "bypass the driver's own cache"),
      setting("NPU_DEFER_WEIGHTS_LOAD", yes_no, "YES | NO", "NO",
              "load the weights into the device with the first request, not with the model"),
      setting("NPU_RUN_INFERENCES_SEQUENTIALLY", yes_no, "YES | NO", "NO",
              "run a model's requests on the device one after the other, in the order of submit()"),
      setting("NPU_DISABLE_IDLE_MEMORY_PRUNING", yes_no, "YES | NO", "NO",
              "keep an idle context's memory on the device, for a faster first inference after a "
              "pause"),
      setting("NPU_DISABLE_VERSION_CHECK", yes_no, "YES | NO", "NO",
              "pass a blob to the driver even if it was built for another platform or version"),
      setting("NPU_PROFILING_TYPE", profiling_type_name, "MODEL | INFER", "MODEL",
              "what PERF_COUNT measures: every layer, or only the whole inference"),
      setting("NPU_COMPILER_TYPE", compiler_type_name, "DRIVER | PLUGIN | PREFER_PLUGIN", "DRIVER",
              "which compiler to use: the driver's, or Intel's compiler library "
              "(NPUCORE_COMPILER_LIBRARY); PREFER_PLUGIN: the library's if there is one and the "
              "driver takes its blob"),
      setting("NPUCORE_COMPILER_LIBRARY", any_text, "path or name", "",
              "Intel's compiler library, or a program that serves one; default: where the system's "
              "loader finds libopenvino_intel_npu_compiler_loader.so; environment: "
              "NPUCORE_COMPILER_LIBRARY"),
      setting("NPUCORE_COMPILE", compile_place_name, "in-process | helper", "",
              "where models are compiled: in this process, or in a helper process that a cancel "
              "ends; default: compile_async(), the elements and npu-compile in a helper, "
              "CompiledModel::compile() in this process; environment: NPUCORE_COMPILE"),
      setting("NPUCORE_COMPILE_MEMORY", byte_count, "bytes, or with K, M, G", "0",
              "most memory (RLIMIT_DATA) of a helper process that compiles; 0: no limit"),
      setting("NPUCORE_COMPILE_TIMEOUT", whole_number, "seconds", "0",
              "longest time that a helper process may compile; 0: no limit"),
      setting("NPU_SERIALIZATION_WEIGHTS_SIZE_THRESHOLD", byte_count, "bytes, or with K, M, G", "0",
              "with NO_WEIGHTS_COPY: smaller constants are copied, the others passed by address"),
  };
}

/// Goals of a compilation.
std::vector<PropertyRow> hint_settings() {
  return {
      not_in_key(
          for_compiler(setting("COMPILATION_NUM_THREADS", whole_number, "0 and up", "0",
                               "most threads for compiling; 0: as many as the machine has"))),
      offered_to_compiler(setting(
          "PERFORMANCE_HINT", performance_hint_name,
          "LATENCY | THROUGHPUT | CUMULATIVE_THROUGHPUT | UNDEFINED", "UNDEFINED",
          "decides tiles, DMA engines and OPTIMAL_NUMBER_OF_INFER_REQUESTS; CUMULATIVE_THROUGHPUT "
          "is THROUGHPUT")),
      offered_to_compiler(setting("PERF_COUNT", yes_no, "YES | NO", "NO",
                                  "measure each layer: Request::profile()")),
      offered_to_compiler(setting("NPU_TURBO", yes_no, "YES | NO", "NO",
                                  "highest clocks and busy waiting; ignored with a warning if the "
                                  "driver has no such queues"),
                          compiler(7, 21)),
      changeable(not_in_key(offered_to_compiler(setting(
          "LOG_LEVEL", log_level_name,
          "LOG_NONE | LOG_ERROR | LOG_WARNING | LOG_INFO | LOG_DEBUG | LOG_TRACE", "LOG_WARNING",
          "what the process prints to stderr, and the compiler's own messages; environment: "
          "NPU_LOG_LEVEL, else OV_NPU_LOG_LEVEL")))),
      for_compiler(setting("INFERENCE_PRECISION_HINT", precision_name, "f16 | i8", "f16",
                           "precision that the compiler may compute in"),
                   compiler(5, 4)),
      for_compiler(setting("EXECUTION_MODE_HINT", execution_mode_name, "PERFORMANCE | ACCURACY",
                           "PERFORMANCE", "whether the compiler may trade accuracy for speed"),
                   compiler(5, 6)),
      for_compiler(setting("NPU_COMPILATION_MODE_PARAMS", compilation_mode_params,
                           "optimization-level=0|1|2 performance-hint-override=efficiency|latency",
                           "",
                           "level 0: fewer passes, 1: balanced (the compiler's default), 2: speed "
                           "over compile time; the override counts only with the hint LATENCY")),
  };
}

/// The target of a compilation, and the compiler's settings.
std::vector<PropertyRow> target_settings() {
  return {
      for_compiler(setting("NPU_TILES", tiles_number, "-1, 1 and up", "-1",
                           "tiles to compile for, up to NPU_MAX_TILES; overrides the hint; -1: the "
                           "compiler decides")),
      for_compiler(setting("NPU_MAX_TILES", max_tiles_number, "1..6", "",
                           "upper limit of NPU_TILES; default: the device's; set it to "
                           "compile for another device")),
      for_compiler(
          setting("NPU_PLATFORM", platform_name, "AUTO_DETECT | " + platforms(" | "), "AUTO_DETECT",
                  "platform to compile for; a driver's compiler accepts only its own device's")),
      for_compiler(setting("NPU_STEPPING", whole_number, "0 and up", "",
                           "the device's revision to compile for; default: the driver's"),
                   compiler(5, 3)),
      for_compiler(setting("NPU_DMA_ENGINES", whole_number, "0 and up", "",
                           "DMA engines to compile for; default: the compiler decides")),
      for_compiler(setting("NPU_COMPILATION_MODE", any_text, "text", "",
                           "the compiler's pass pipeline, by name")),
      for_compiler(setting("NPU_COMPILER_DYNAMIC_QUANTIZATION", yes_no, "YES | NO", "NO",
                           "keep quantised weights of language models quantised"),
                   compiler(7, 1)),
      for_compiler(setting("NPU_QDQ_OPTIMIZATION", yes_no, "YES | NO", "NO",
                           "optimise models that contain quantise and dequantise operators"),
                   compiler(7, 20)),
      for_compiler(setting("NPU_QDQ_OPTIMIZATION_AGGRESSIVE", yes_no, "YES | NO", "NO",
                           "the same, at some cost in accuracy"),
                   compiler(7, 20)),
      for_compiler(setting("NPU_ENABLE_STRIDES_FOR", any_text, "NAME,NAME", "",
                           "inputs and outputs whose tensors may have strides")),
      not_in_key(offered_to_compiler(
          setting("NPU_MODEL_SERIALIZER_VERSION", serializer_name,
                  "AUTO | ALL_WEIGHTS_COPY | NO_WEIGHTS_COPY", "AUTO",
                  "pass weights in one buffer with the model, or by address in the mapped file; "
                  "AUTO: by address if the compiler takes them so"))),
      alias(setting("NPU_USE_BASE_MODEL_SERIALIZER", copies_weights, "YES | NO", "",
                    "older name: YES is NPU_MODEL_SERIALIZER_VERSION=ALL_WEIGHTS_COPY, NO is "
                    "NO_WEIGHTS_COPY; the last one set counts"),
            property::serializer.name, is_all_weights_copy),
  };
}

std::vector<PropertyRow> all_rows() {
  std::vector<PropertyRow> rows;
  for (auto part : {facts(), settings(), hint_settings(), target_settings()}) {
    rows.insert(rows.end(), part.begin(), part.end());
  }
  std::sort(rows.begin(), rows.end(),
            [](const auto& a, const auto& b) { return a.info.name < b.info.name; });
  return rows;
}

std::size_t edit_distance(const std::string& a, const std::string& b) {
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 1; i <= a.size(); ++i) {
    std::size_t diagonal = row[0];
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t above = row[j];
      row[j] = std::min({row[j] + 1, row[j - 1] + 1, diagonal + (a[i - 1] == b[j - 1] ? 0u : 1u)});
      diagonal = above;
    }
  }
  return row[b.size()];
}

/// Smaller is nearer; names that do not resemble each other have no distance.
std::optional<std::size_t> distance(const std::string& asked, const std::string& known) {
  const std::size_t edits = edit_distance(asked, known);
  if (edits <= std::max<std::size_t>(2, asked.size() / 4)) return edits;
  // "TURBO" for NPU_TURBO, "PERFORMANCE" for PERFORMANCE_HINT.
  constexpr std::size_t kTelling = 4;
  if (asked.size() >= kTelling && known.find(asked) != std::string::npos) {
    return known.size() - asked.size() + kTelling;
  }
  return std::nullopt;
}

}  // namespace

const std::vector<PropertyRow>& property_rows() {
  // Never destroyed, like all tables here: objects that ask may outlive every static of this
  // library.
  static const auto* const rows = new std::vector<PropertyRow>(all_rows());
  return *rows;
}

const PropertyRow* find_property_row(const std::string& name) {
  const auto& rows = property_rows();
  const auto found = std::lower_bound(
      rows.begin(), rows.end(), name,
      [](const PropertyRow& row, const std::string& wanted) { return row.info.name < wanted; });
  return found != rows.end() && found->info.name == name ? &*found : nullptr;
}

void fail_unknown_property(const std::string& name) {
  const auto near = near_property_names(name);
  throw Error(ErrorCode::kInvalidArgument,
              text("no property is called ", base::quoted(name), "; ",
                   near.empty() ? std::string("npu-info --properties lists them all")
                                : "did you mean " + base::join(near, ", ") + "?"));
}

}  // namespace npu::internal

namespace npu {

const std::vector<PropertyInfo>& known_properties() try {
  static const auto* const infos = [] {
    auto list = std::make_unique<std::vector<PropertyInfo>>();
    for (const auto& row : internal::property_rows()) list->push_back(row.info);
    return list.release();
  }();
  return *infos;
} catch (...) {
  base::rethrow_as_error();
}

const PropertyInfo* find_property(const std::string& name) {
  const auto* row = internal::find_property_row(name);
  return row ? &row->info : nullptr;
}

std::vector<std::string> near_property_names(const std::string& name) try {
  constexpr std::size_t kMost = 3;
  const std::string asked = base::upper(name);
  std::vector<std::pair<std::size_t, std::string>> near;
  for (const auto& row : internal::property_rows()) {
    if (const auto far = internal::distance(asked, row.info.name)) {
      near.emplace_back(*far, row.info.name);
    }
  }
  std::sort(near.begin(), near.end());
  std::vector<std::string> names;
  for (std::size_t i = 0; i < std::min(kMost, near.size()); ++i) names.push_back(near[i].second);
  return names;
} catch (...) {
  base::rethrow_as_error();
}

}  // namespace npu
