#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <type_traits>
#include <vector>

#include <npucore/export.hpp>

namespace npu {

/// What a model is compiled and run for. kCumulativeThroughput is kThroughput on one device.
enum class PerformanceHint { kUndefined, kLatency, kThroughput, kCumulativeThroughput };

/// Of a model's queue.
enum class Priority { kLow, kMedium, kHigh };

/// kEfficient: runs when nothing else wants the device.
enum class WorkloadType { kDefault, kEfficient };

/// How the weights reach the driver's compiler: inside one buffer with the model, or by address in
/// the mapped file. kAuto: by address where the compiler takes it.
enum class Serializer { kAuto, kAllWeightsCopy, kNoWeightsCopy };

NPU_API const char* to_string(PerformanceHint hint);  ///< "LATENCY", ...
NPU_API const char* to_string(Priority priority);
NPU_API const char* to_string(WorkloadType type);
NPU_API const char* to_string(Serializer serializer);

enum class Access { kReadOnly, kReadWrite };

/// One row of the table of properties: what users type, and what it means.
struct PropertyInfo {
  std::string name;
  Access access = Access::kReadOnly;
  std::string values;         ///< for people: "YES | NO", "0 and up", ...
  std::string default_value;  ///< of a writable one; empty: nothing, or found out from the device
  std::string meaning;        ///< one sentence
  bool of_device = true;      ///< Device::get_property answers
  bool of_model = false;      ///< CompiledModel::get_property answers
  /// Can be set on a compiled model. Else set it on the device, or in CompileOptions.
  bool changeable = false;
  bool compile_time = false;  ///< is sent to the driver's compiler
  bool in_cache_key = false;  ///< another value makes another entry in the cache
  /// The oldest compiler that knows it, as (major << 16) | minor; 0: every one.
  std::uint32_t oldest_compiler = 0;
};

/// Every property there is, ordered by name.
NPU_API const std::vector<PropertyInfo>& known_properties();
/// Null for an unknown name.
NPU_API const PropertyInfo* find_property(const std::string& name);
/// Names of known properties that look like `name`, the nearest first; at most three.
NPU_API std::vector<std::string> near_property_names(const std::string& name);

/// A property's name with the type of its values.
template <class T>
struct Property {
  const char* name;
};

namespace property {
inline constexpr Property<std::string> cache_dir{"CACHE_DIR"};
inline constexpr Property<std::uint64_t> cache_size{"CACHE_SIZE"};
inline constexpr Property<std::int64_t> compilation_num_threads{"COMPILATION_NUM_THREADS"};
inline constexpr Property<std::string> device_id{"DEVICE_ID"};
inline constexpr Property<bool> cpu_pinning{"ENABLE_CPU_PINNING"};
inline constexpr Property<bool> exclusive_async_requests{"EXCLUSIVE_ASYNC_REQUESTS"};
inline constexpr Property<std::string> execution_mode_hint{"EXECUTION_MODE_HINT"};
inline constexpr Property<std::string> inference_precision_hint{"INFERENCE_PRECISION_HINT"};
inline constexpr Property<std::string> log_level{"LOG_LEVEL"};
inline constexpr Property<Priority> priority{"MODEL_PRIORITY"};
inline constexpr Property<bool> bypass_driver_cache{"NPU_BYPASS_UMD_CACHING"};
inline constexpr Property<std::string> compilation_mode_params{"NPU_COMPILATION_MODE_PARAMS"};
inline constexpr Property<bool> defer_weights_load{"NPU_DEFER_WEIGHTS_LOAD"};
inline constexpr Property<bool> disable_idle_memory_pruning{"NPU_DISABLE_IDLE_MEMORY_PRUNING"};
inline constexpr Property<bool> disable_version_check{"NPU_DISABLE_VERSION_CHECK"};
inline constexpr Property<std::string> enable_strides_for{"NPU_ENABLE_STRIDES_FOR"};
inline constexpr Property<std::int64_t> max_tiles{"NPU_MAX_TILES"};
inline constexpr Property<Serializer> serializer{"NPU_MODEL_SERIALIZER_VERSION"};
inline constexpr Property<std::string> platform{"NPU_PLATFORM"};
inline constexpr Property<std::string> profiling_type{"NPU_PROFILING_TYPE"};
inline constexpr Property<bool> run_sequentially{"NPU_RUN_INFERENCES_SEQUENTIALLY"};
inline constexpr Property<std::uint64_t> serializer_threshold{
    "NPU_SERIALIZATION_WEIGHTS_SIZE_THRESHOLD"};
inline constexpr Property<std::int64_t> tiles{"NPU_TILES"};
inline constexpr Property<bool> turbo{"NPU_TURBO"};
inline constexpr Property<std::int64_t> optimal_number_of_requests{
    "OPTIMAL_NUMBER_OF_INFER_REQUESTS"};
inline constexpr Property<PerformanceHint> performance_hint{"PERFORMANCE_HINT"};
inline constexpr Property<std::int64_t> performance_hint_num_requests{
    "PERFORMANCE_HINT_NUM_REQUESTS"};
inline constexpr Property<bool> profiling{"PERF_COUNT"};
inline constexpr Property<WorkloadType> workload_type{"WORKLOAD_TYPE"};
inline constexpr Property<std::string> full_device_name{"FULL_DEVICE_NAME"};
inline constexpr Property<std::string> device_architecture{"DEVICE_ARCHITECTURE"};
inline constexpr Property<std::uint64_t> total_memory{"NPU_DEVICE_TOTAL_MEM_SIZE"};
inline constexpr Property<std::uint64_t> allocated_memory{"NPU_DEVICE_ALLOC_MEM_SIZE"};
inline constexpr Property<bool> loaded_from_cache{"LOADED_FROM_CACHE"};
}  // namespace property

/// Values as the text that properties carry, and back.
NPU_API std::string property_text(bool value);
NPU_API std::string property_text(std::int64_t value);
NPU_API std::string property_text(std::uint64_t value);
NPU_API std::string property_text(PerformanceHint value);
NPU_API std::string property_text(Priority value);
NPU_API std::string property_text(WorkloadType value);
NPU_API std::string property_text(Serializer value);
inline std::string property_text(const std::string& value) {
  return value;
}
NPU_API void read_property(const std::string& text, bool& value);
NPU_API void read_property(const std::string& text, std::int64_t& value);
NPU_API void read_property(const std::string& text, std::uint64_t& value);
NPU_API void read_property(const std::string& text, PerformanceHint& value);
NPU_API void read_property(const std::string& text, Priority& value);
NPU_API void read_property(const std::string& text, WorkloadType& value);
NPU_API void read_property(const std::string& text, Serializer& value);
inline void read_property(const std::string& text, std::string& value) {
  value = text;
}
template <class T>
T property_value(const std::string& text) {
  T value{};
  read_property(text, value);
  return value;
}

/// A checked set of writable properties. A value is kept in one spelling: "yes", "true" and "1" are
/// "YES", "latency" is "LATENCY".
class NPU_API Properties {
 public:
  /// Throws Error(kInvalidArgument) for a value that cannot be, for a read-only property, and, with
  /// the names that look like it, for an unknown one.
  Properties& set(const std::string& name, const std::string& value);
  template <class T>
  Properties& set(Property<T> property, const std::type_identity_t<T>& value) {
    return set(std::string(property.name), property_text(value));
  }
  template <class T>
  Properties& set(Property<T> property, const char* value) {
    return set(std::string(property.name), std::string(value));
  }

  bool is_set(const std::string& name) const { return values_.count(name) != 0; }
  template <class T>
  bool is_set(Property<T> property) const {
    return is_set(std::string(property.name));
  }
  /// The value, or the default where none was set. Throws like set() for an unknown or read-only
  /// property.
  std::string get(const std::string& name) const;
  template <class T>
  T get(Property<T> property) const {
    return property_value<T>(get(std::string(property.name)));
  }

  /// "KEY=VALUE KEY2=\"a b\"", separated by blanks or commas; an empty text gives an empty set.
  static Properties parse(const std::string& text);
  /// What parse() reads.
  std::string to_string() const;
  /// What was set, without the defaults.
  const std::map<std::string, std::string>& values() const { return values_; }
  /// These, and those of `defaults` that are not set here.
  Properties over(const Properties& defaults) const;

  bool operator==(const Properties&) const = default;

 private:
  std::map<std::string, std::string> values_;
};

}  // namespace npu
