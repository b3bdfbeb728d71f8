#pragma once

#include <cstdint>
#include <string>

#include <npucore/properties.hpp>

namespace npu::internal {

/// Converts a property's value to its text, and back.
template <class T>
std::string property_text(const T& value);
template <class T>
T property_value(const std::string& text);

/// The types of properties' values, to instantiate templates for each.
#define NPU_FOR_PROPERTY_TYPES(INSTANTIATE) \
  INSTANTIATE(bool)                         \
  INSTANTIATE(std::int64_t)                 \
  INSTANTIATE(std::uint64_t)                \
  INSTANTIATE(std::string)                  \
  INSTANTIATE(PerformanceHint)              \
  INSTANTIATE(Priority)                     \
  INSTANTIATE(Serializer)                   \
  INSTANTIATE(WorkloadType)

// The value in its one spelling. Each throws std::invalid_argument that says what a value may be.
std::string yes_no(const std::string& value);
std::string whole_number(const std::string& value);  ///< 0 and up
inline constexpr int kMostStreams = 8;
std::string streams_number(const std::string& value);    ///< AUTO, or 0 to kMostStreams
std::string tiles_number(const std::string& value);      ///< -1, or 1 and up
std::string max_tiles_number(const std::string& value);  ///< 1..6
std::string byte_count(const std::string& value);        ///< "100", "64K", "512M", "4G"
std::string any_text(const std::string& value);          ///< without quotes and line ends
std::string folder(const std::string& value);
std::string log_level_name(const std::string& value);  ///< LOG_NONE, ...
std::string performance_hint_name(const std::string& value);
std::string priority_name(const std::string& value);
std::string workload_type_name(const std::string& value);
std::string serializer_name(const std::string& value);
std::string copies_weights(const std::string& value);       ///< YES or NO to a serializer's name
std::string is_all_weights_copy(const std::string& value);  ///< and back; NO for AUTO
std::string precision_name(const std::string& value);
std::string execution_mode_name(const std::string& value);
std::string profiling_type_name(const std::string& value);
std::string compile_place_name(const std::string& value);
std::string compiler_type_name(const std::string& value);
std::string platform_name(const std::string& value);  ///< "4000", "AUTO_DETECT"
std::string device_id(const std::string& value);      ///< empty, "4000", ...
std::string compilation_mode_params(const std::string& value);

}  // namespace npu::internal
