#include "property_values.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <limits>
#include <optional>
#include <sstream>
#include <stdexcept>
#include <type_traits>
#include <vector>

#include <npucore/properties.hpp>

#include "base/enum_names.hpp"
#include "base/text.hpp"
#include "ze/platforms.hpp"

namespace npu {
namespace {

using base::EnumName;
using base::text;
using base::upper;

constexpr std::array kHints = {
    EnumName<PerformanceHint>{PerformanceHint::kUndefined, "UNDEFINED"},
    EnumName<PerformanceHint>{PerformanceHint::kLatency, "LATENCY"},
    EnumName<PerformanceHint>{PerformanceHint::kThroughput, "THROUGHPUT"},
    EnumName<PerformanceHint>{PerformanceHint::kCumulativeThroughput, "CUMULATIVE_THROUGHPUT"},
};
constexpr std::array kPriorities = {
    EnumName<Priority>{Priority::kLow, "LOW"},
    EnumName<Priority>{Priority::kMedium, "MEDIUM"},
    EnumName<Priority>{Priority::kHigh, "HIGH"},
};
constexpr std::array kWorkloadTypes = {
    EnumName<WorkloadType>{WorkloadType::kDefault, "DEFAULT"},
    EnumName<WorkloadType>{WorkloadType::kEfficient, "EFFICIENT"},
};
constexpr std::array kSerializers = {
    EnumName<Serializer>{Serializer::kAuto, "AUTO"},
    EnumName<Serializer>{Serializer::kAllWeightsCopy, "ALL_WEIGHTS_COPY"},
    EnumName<Serializer>{Serializer::kNoWeightsCopy, "NO_WEIGHTS_COPY"},
};

std::string one_of(const std::string& value, const std::vector<std::string>& valid) {
  for (const auto& candidate : valid) {
    if (upper(candidate) == upper(value)) return candidate;
  }
  throw std::invalid_argument("use one of " + base::join(valid, ", "));
}

template <class Enum, std::size_t N>
std::string one_of(const std::array<EnumName<Enum>, N>& names, const std::string& value) {
  std::vector<std::string> valid;
  valid.reserve(N);
  for (const auto& entry : names) valid.emplace_back(entry.name);
  return one_of(value, valid);
}

template <class Number>
std::optional<Number> number_of(const std::string& words) {
  Number value = 0;
  const auto [end, error] = std::from_chars(words.data(), words.data() + words.size(), value);
  if (error != std::errc{} || end != words.data() + words.size()) return std::nullopt;
  return value;
}

template <class Enum>
Enum value_of(const std::string& words) {
  if constexpr (std::is_same_v<Enum, PerformanceHint>) {
    return base::value_of(kHints, words, "performance hint");
  } else if constexpr (std::is_same_v<Enum, Priority>) {
    return base::value_of(kPriorities, words, "priority");
  } else if constexpr (std::is_same_v<Enum, WorkloadType>) {
    return base::value_of(kWorkloadTypes, words, "workload type");
  } else {
    return base::value_of(kSerializers, words, "serializer");
  }
}

std::string without_prefix(const std::string& value) {
  const std::string name = upper(value);
  const bool prefixed = name.rfind("NPU", 0) == 0 || name.rfind("VPU", 0) == 0;
  return prefixed ? name.substr(3) : name;
}

}  // namespace

const char* to_string(PerformanceHint hint) {
  return base::name_of(kHints, hint);
}
const char* to_string(Priority priority) {
  return base::name_of(kPriorities, priority);
}
const char* to_string(WorkloadType type) {
  return base::name_of(kWorkloadTypes, type);
}
const char* to_string(Serializer serializer) {
  return base::name_of(kSerializers, serializer);
}

namespace internal {

std::string yes_no(const std::string& value) {
  const std::string word = upper(value);
  if (word == "YES" || word == "TRUE" || word == "ON" || word == "1") return "YES";
  if (word == "NO" || word == "FALSE" || word == "OFF" || word == "0") return "NO";
  throw std::invalid_argument("use YES or NO");
}

std::string whole_number(const std::string& value) {
  const auto number = number_of<std::uint32_t>(value);
  if (!number || *number > std::numeric_limits<std::int32_t>::max()) {
    throw std::invalid_argument("use a whole number, 0 and up");
  }
  return std::to_string(*number);
}

std::string streams_number(const std::string& value) {
  if (upper(value) == "AUTO" || value == "-1") return "AUTO";
  const auto number = number_of<std::uint32_t>(value);
  if (!number || *number > kMostStreams) {
    throw std::invalid_argument(text("use AUTO, or a number from 0 to ", kMostStreams));
  }
  return std::to_string(*number);
}

std::string tiles_number(const std::string& value) {
  const auto number = number_of<std::int32_t>(value);
  if (!number || *number < -1) {
    throw std::invalid_argument("use a number of tiles, or -1 to leave it to the compiler");
  }
  return std::to_string(*number == 0 ? -1 : *number);
}

std::string max_tiles_number(const std::string& value) {
  const auto number = number_of<std::int32_t>(value);
  if (!number || *number < 1 || *number > 6) {
    throw std::invalid_argument("use a number of tiles, 1 to 6");
  }
  return std::to_string(*number);
}

std::string byte_count(const std::string& value) {
  constexpr const char* kAdvice = "use a number of bytes, optionally with K, M or G";
  std::string digits = value;
  int shift = 0;
  constexpr std::string_view kUnits = "KMG";
  const auto unit = digits.empty() ? std::string_view::npos : kUnits.find(upper(digits).back());
  if (unit != std::string_view::npos) {
    shift = 10 * (static_cast<int>(unit) + 1);
    digits.pop_back();
  }
  const auto number = number_of<std::uint64_t>(digits);
  if (!number || *number > std::numeric_limits<std::uint64_t>::max() >> shift) {
    throw std::invalid_argument(kAdvice);
  }
  return std::to_string(*number << shift);
}

std::string any_text(const std::string& value) {
  if (value.find_first_of("\"\n") != std::string::npos) {
    throw std::invalid_argument("use text without quotes or line breaks");
  }
  return value;
}

std::string folder(const std::string& value) {
  if (value.find('\n') != std::string::npos || value.find('\0') != std::string::npos) {
    throw std::invalid_argument("use the path of a folder");
  }
  return value;
}

std::string log_level_name(const std::string& value) {
  const std::vector<std::string> levels = {"LOG_NONE", "LOG_ERROR", "LOG_WARNING",
                                           "LOG_INFO", "LOG_DEBUG", "LOG_TRACE"};
  const bool prefixed = upper(value).rfind("LOG_", 0) == 0;
  return one_of(prefixed ? value : "LOG_" + value, levels);
}

std::string performance_hint_name(const std::string& value) {
  return one_of(kHints, value);
}
std::string priority_name(const std::string& value) {
  return one_of(kPriorities, value);
}
std::string workload_type_name(const std::string& value) {
  return one_of(kWorkloadTypes, value);
}
std::string serializer_name(const std::string& value) {
  return one_of(kSerializers, value);
}
std::string copies_weights(const std::string& value) {
  return to_string(yes_no(value) == "YES" ? Serializer::kAllWeightsCopy
                                          : Serializer::kNoWeightsCopy);
}
std::string is_all_weights_copy(const std::string& value) {
  return property_text(value == to_string(Serializer::kAllWeightsCopy));
}
std::string precision_name(const std::string& value) {
  return base::lower(one_of(value, {"f16", "i8"}));
}
std::string execution_mode_name(const std::string& value) {
  return one_of(value, {"PERFORMANCE", "ACCURACY"});
}
std::string profiling_type_name(const std::string& value) {
  return one_of(value, {"MODEL", "INFER"});
}
std::string compile_place_name(const std::string& value) {
  return one_of(value, {"in-process", "helper"});
}
std::string compiler_type_name(const std::string& value) {
  return one_of(value, {"DRIVER", "PLUGIN", "PREFER_PLUGIN"});
}

std::string platform_name(const std::string& value) {
  auto valid = ze::platform_names();
  valid.insert(valid.begin(), "AUTO_DETECT");
  return one_of(without_prefix(value), valid);
}

std::string device_id(const std::string& value) {
  if (value.empty()) return value;
  return one_of(without_prefix(value), ze::platform_names());
}

std::string compilation_mode_params(const std::string& value) {
  std::istringstream words(any_text(value));
  words.imbue(std::locale::classic());
  std::vector<std::string> params;
  for (std::string word; words >> word;) {
    const auto equals = word.find('=');
    const std::string key = word.substr(0, equals);
    const std::string choice = equals == std::string::npos ? "" : word.substr(equals + 1);
    if (key == "optimization-level" && choice != "0" && choice != "1" && choice != "2") {
      throw std::invalid_argument("optimization-level is 0, 1 or 2");
    }
    if (key == "performance-hint-override" && choice != "efficiency" && choice != "latency") {
      throw std::invalid_argument("performance-hint-override is efficiency or latency");
    }
    params.push_back(word);
  }
  return base::join(params, " ");
}

template <class T>
std::string property_text(const T& value) {
  if constexpr (std::is_same_v<T, bool>) {
    return value ? "YES" : "NO";
  } else if constexpr (std::is_integral_v<T>) {
    return std::to_string(value);
  } else if constexpr (std::is_enum_v<T>) {
    return to_string(value);
  } else {
    return value;
  }
}

template <class T>
T property_value(const std::string& words) {
  if constexpr (std::is_same_v<T, bool>) {
    return words == "YES";
  } else if constexpr (std::is_integral_v<T>) {
    return number_of<T>(words).value_or(0);
  } else if constexpr (std::is_enum_v<T>) {
    return value_of<T>(words);
  } else {
    return words;
  }
}

#define INSTANTIATE(T)                          \
  template std::string property_text(const T&); \
  template T property_value(const std::string&);
NPU_FOR_PROPERTY_TYPES(INSTANTIATE)
#undef INSTANTIATE

}  // namespace internal
}  // namespace npu
