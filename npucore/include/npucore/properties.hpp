#pragma once

#include <map>
#include <type_traits>

#include <npucore/types.hpp>

namespace npu {

/// The goal to compile and run a model for. On one device kCumulativeThroughput is kThroughput.
enum class NPU_API PerformanceHint { kUndefined, kLatency, kThroughput, kCumulativeThroughput };
enum class NPU_API Priority { kLow, kMedium, kHigh };      ///< of a model's queue
enum class NPU_API WorkloadType { kDefault, kEfficient };  ///< kEfficient: while nothing else runs
/// How weights reach the driver's compiler: copied into one buffer with the model, or by their
/// address in the mapped file. kAuto: by address if the compiler takes that.
enum class NPU_API Serializer { kAuto, kAllWeightsCopy, kNoWeightsCopy };

NPU_API const char* to_string(PerformanceHint hint);  ///< "LATENCY", ...
NPU_API const char* to_string(Priority priority);
NPU_API const char* to_string(WorkloadType type);
NPU_API const char* to_string(Serializer serializer);

enum class Access { kReadOnly, kReadWrite };

/// One row of the table of properties: what users type, and what it means.
struct PropertyInfo {
  std::string name;
  Access access = Access::kReadOnly;
  std::string values;                 ///< for people: "YES | NO", "0 and up", ...
  std::string default_value;          ///< of a writable one; empty: none, or the device decides
  std::string meaning;                ///< one sentence
  bool of_device = true;              ///< Device::get_property answers
  bool of_model = false;              ///< CompiledModel::get_property answers
  bool changeable = false;            ///< on a compiled model too, not only before compiling
  bool compile_time = false;          ///< is sent to the driver's compiler
  bool in_cache_key = false;          ///< another value makes another entry in the cache
  std::uint32_t oldest_compiler = 0;  ///< first to know it, (major << 16) | minor; 0: all do
};
NPU_API const std::vector<PropertyInfo>& known_properties();         ///< all, ordered by name
NPU_API const PropertyInfo* find_property(const std::string& name);  ///< null if unknown
/// Names of known properties that look like `name`, the nearest first; at most three.
NPU_API std::vector<std::string> near_property_names(const std::string& name);

/// A property's name, with the type of its values. All are listed below.
template <class T>
struct Property {
  const char* name;
  operator std::string() const { return name; }
};

namespace property {
inline constexpr Property<bool> bypass_driver_cache{"NPU_BYPASS_UMD_CACHING"},
    cpu_pinning{"ENABLE_CPU_PINNING"}, defer_weights_load{"NPU_DEFER_WEIGHTS_LOAD"},
    disable_idle_memory_pruning{"NPU_DISABLE_IDLE_MEMORY_PRUNING"},
    disable_version_check{"NPU_DISABLE_VERSION_CHECK"},
    exclusive_async_requests{"EXCLUSIVE_ASYNC_REQUESTS"}, loaded_from_cache{"LOADED_FROM_CACHE"},
    profiling{"PERF_COUNT"}, run_sequentially{"NPU_RUN_INFERENCES_SEQUENTIALLY"},
    turbo{"NPU_TURBO"};
inline constexpr Property<std::int64_t> compilation_num_threads{"COMPILATION_NUM_THREADS"},
    compile_timeout{"NPUCORE_COMPILE_TIMEOUT"}, max_tiles{"NPU_MAX_TILES"},
    optimal_number_of_requests{"OPTIMAL_NUMBER_OF_INFER_REQUESTS"},
    performance_hint_num_requests{"PERFORMANCE_HINT_NUM_REQUESTS"}, tiles{"NPU_TILES"};
inline constexpr Property<std::uint64_t> allocated_memory{"NPU_DEVICE_ALLOC_MEM_SIZE"},
    cache_size{"CACHE_SIZE"}, compile_memory{"NPUCORE_COMPILE_MEMORY"},
    serializer_threshold{"NPU_SERIALIZATION_WEIGHTS_SIZE_THRESHOLD"},
    total_memory{"NPU_DEVICE_TOTAL_MEM_SIZE"};
inline constexpr Property<std::string> cache_dir{"CACHE_DIR"}, cache_id{"CACHE_ID"},
    compile_in{"NPUCORE_COMPILE"}, compilation_mode_params{"NPU_COMPILATION_MODE_PARAMS"},
    compiler_library{"NPUCORE_COMPILER_LIBRARY"}, compiler_type{"NPU_COMPILER_TYPE"},
    device_architecture{"DEVICE_ARCHITECTURE"}, device_id{"DEVICE_ID"},
    enable_strides_for{"NPU_ENABLE_STRIDES_FOR"}, execution_mode_hint{"EXECUTION_MODE_HINT"},
    full_device_name{"FULL_DEVICE_NAME"}, inference_precision_hint{"INFERENCE_PRECISION_HINT"},
    log_level{"LOG_LEVEL"}, platform{"NPU_PLATFORM"}, profiling_type{"NPU_PROFILING_TYPE"};
inline constexpr Property<PerformanceHint> performance_hint{"PERFORMANCE_HINT"};
inline constexpr Property<Priority> priority{"MODEL_PRIORITY"};
inline constexpr Property<Serializer> serializer{"NPU_MODEL_SERIALIZER_VERSION"};
inline constexpr Property<WorkloadType> workload_type{"WORKLOAD_TYPE"};
}  // namespace property

/// A checked set of writable properties, each in one spelling: "yes", "true" and "1" are "YES".
class NPU_API Properties {
 public:
  /// Throws Error(kInvalidArgument) for a wrong value, for a read-only property, and, with the
  /// names that look like it, for an unknown one.
  Properties& set(const std::string& name, const std::string& value);
  Properties& set(Property<bool> property, const char* value);  ///< "NO" is not true
  template <class T>
  Properties& set(Property<T> property, const std::type_identity_t<T>& value);
  bool is_set(const std::string& name) const;
  /// The value, or the default if none was set. Throws like set().
  std::string get(const std::string& name) const;
  template <class T>
  T get(Property<T> property) const;
  /// Reads KEY=VALUE KEY2="a b", separated by blanks or commas; an empty text gives an empty set.
  static Properties parse(const std::string& text);
  std::string to_string() const;  ///< what parse() reads
  /// The values that were set, without the defaults.
  const std::map<std::string, std::string>& values() const { return values_; }
  /// This set, with the values of `defaults` that are not set here.
  Properties over(const Properties& defaults) const;
  bool operator==(const Properties&) const = default;

 private:
  std::map<std::string, std::string> values_;
};

}  // namespace npu
