#include "build_flags.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>

#include "base/failure.hpp"

namespace softnpu {
namespace {

struct Option {
  std::string_view name;
  std::string_view values;  // separated by '|'; empty: any
  CompilerVersion since;
  uint32_t first_platform = 0;
};

constexpr CompilerVersion kAlways{0, 0};

// As Intel's compiler learnt them. Options that only steer how hardware would schedule the graph
// are taken and change nothing here.
constexpr std::array<Option, 28> kOptions = {{
    {"PERF_COUNT", "YES|NO", kAlways},
    {"COMPILATION_NUM_THREADS", "", kAlways},
    {"PERFORMANCE_HINT", "LATENCY|THROUGHPUT|CUMULATIVE_THROUGHPUT|UNDEFINED", kAlways},
    {"EXECUTION_MODE_HINT", "PERFORMANCE|ACCURACY", {5, 6}},
    {"INFERENCE_PRECISION_HINT", "", {5, 4}},
    {"LOG_LEVEL", "", kAlways},
    {"NPU_PLATFORM", "", kAlways},
    {"NPU_TILES", "", {5, 4}},
    {"NPU_MAX_TILES", "", kAlways},
    {"NPU_STEPPING", "", {5, 3}},
    {"NPU_DMA_ENGINES", "", kAlways},
    {"NPU_TURBO", "YES|NO", {7, 21}},
    {"NPU_BATCH_MODE", "", {5, 5}},
    {"NPU_BATCH_COMPILER_MODE_SETTINGS", "", {7, 4}},
    {"NPU_COMPILATION_MODE", "", kAlways},
    {"NPU_COMPILATION_MODE_PARAMS", "", kAlways},
    {"NPU_BACKEND_COMPILATION_PARAMS", "", kAlways},
    {"NPU_DYNAMIC_SHAPE_TO_STATIC", "YES|NO", kAlways},
    {"NPU_COMPILER_DYNAMIC_QUANTIZATION", "YES|NO", {7, 1}},
    {"NPU_QDQ_OPTIMIZATION", "YES|NO", {7, 20}},
    {"NPU_QDQ_OPTIMIZATION_AGGRESSIVE", "YES|NO", {7, 20}},
    {"NPU_MODEL_SERIALIZER_VERSION", "ALL_WEIGHTS_COPY|NO_WEIGHTS_COPY", {7, 5}},
    {"NPU_ENABLE_STRIDES_FOR", "", {7, 5}, 4000},
    // Of the plugin's, taken without effect: compiler 8.4 lists them, since when is not known.
    {"CACHE_MODE", "", {8, 4}},
    {"COMPATIBILITY_CHECK", "", {8, 4}},
    {"DEVICE_ID", "", {8, 4}},
    {"NPU_COMPILER_TYPE", "", {8, 4}},
    {"PERFORMANCE_HINT_NUM_REQUESTS", "", {8, 4}},
}};

// Options of the plugin's that reach the compiler by old clients; it drops them.
constexpr std::array<std::string_view, 2> kDropped = {"MODEL_PRIORITY", "CACHE_DIR"};

// Parts of NPU_COMPILATION_MODE_PARAMS that came later than the option.
constexpr CompilerVersion kModeParamsSince{5, 7};
constexpr std::array<std::string_view, 2> kModeParams = {"optimization-level",
                                                         "performance-hint-override"};

constexpr std::string_view kPrefix = "NPU_";
constexpr std::string_view kOldPrefix = "VPU_";      // before 5.0
constexpr std::string_view kOldestPrefix = "VPUX_";  // before 4.0
constexpr CompilerVersion kNewestOfAll{UINT16_MAX, UINT16_MAX};

constexpr std::string_view kBlanks = " \t\r\n";

bool is_one_of(std::string_view value, std::string_view list) {
  while (!list.empty()) {
    const size_t end = std::min(list.find('|'), list.size());
    if (list.substr(0, end) == value) return true;
    list.remove_prefix(std::min(end + 1, list.size()));
  }
  return false;
}

bool begins_with(std::string_view text, std::string_view with) {
  return text.substr(0, with.size()) == with;
}

// Today's name of an option; empty for a prefix that is newer than the compiler. Old prefixes and
// names stay known.
std::string today_name(std::string_view name, CompilerVersion compiler) {
  std::string today(name);
  if (begins_with(name, kOldestPrefix)) {
    today = std::string(kPrefix) + today.substr(kOldestPrefix.size());
  } else if (begins_with(name, kOldPrefix)) {
    if (!compiler.at_least(4, 0)) return {};
    today = std::string(kPrefix) + today.substr(kOldPrefix.size());
  } else if (begins_with(name, kPrefix) && !compiler.at_least(5, 0)) {
    return {};
  }
  return today == "NPU_DPU_GROUPS" ? "NPU_TILES" : today;
}

bool is_old_name_of_tiles(std::string_view name) {
  constexpr std::string_view kOldName = "DPU_GROUPS";
  return name.size() > kOldName.size() && name.substr(name.size() - kOldName.size()) == kOldName;
}

bool is_known(const Option& option, std::string_view given, CompilerVersion compiler,
              uint32_t platform) {
  if (platform < option.first_platform) return false;
  return compiler.at_least(option.since.major, option.since.minor) || is_old_name_of_tiles(given);
}

// Null for an option that the compiler does not know.
const Option* find_option(std::string_view given, CompilerVersion compiler, uint32_t platform) {
  const std::string name = today_name(given, compiler);
  const auto found = std::find_if(kOptions.begin(), kOptions.end(),
                                  [&name](const Option& option) { return option.name == name; });
  return found == kOptions.end() || !is_known(*found, given, compiler, platform) ? nullptr
                                                                                 : &*found;
}

[[noreturn]] void refuse(const std::string& reason) {
  throw Failure(ZE_RESULT_ERROR_INVALID_ARGUMENT, "build flags: " + reason);
}

struct Pair {
  std::string key;
  std::string value;
};

// Cuts KEY="VALUE" off the front of `rest`.
Pair take_pair(std::string_view& rest) {
  const size_t equals = rest.find('=');
  const bool quoted =
      equals != std::string_view::npos && equals + 1 < rest.size() && rest[equals + 1] == '"';
  if (!quoted || rest.substr(0, equals).find_first_of(kBlanks) != std::string_view::npos) {
    refuse("NAME=\"VALUE\" was expected at \"" + std::string(rest.substr(0, 60)) + "\"");
  }
  const size_t close = rest.find('"', equals + 2);
  if (close == std::string_view::npos) {
    refuse("the value of " + std::string(rest.substr(0, equals)) + " has no closing quote");
  }
  Pair pair{std::string(rest.substr(0, equals)),
            std::string(rest.substr(equals + 2, close - equals - 2))};
  rest.remove_prefix(close + 1);
  return pair;
}

void check_option(const Pair& pair, const Option& option, CompilerVersion compiler) {
  if (!option.values.empty() && !is_one_of(pair.value, option.values)) {
    refuse(pair.key + " cannot be \"" + pair.value + "\", only " + std::string(option.values));
  }
  if (option.name != "NPU_COMPILATION_MODE_PARAMS" ||
      compiler.at_least(kModeParamsSince.major, kModeParamsSince.minor)) {
    return;
  }
  for (const std::string_view param : kModeParams) {
    if (pair.value.find(param) != std::string::npos) {
      refuse(pair.key + " has " + std::string(param) + ", which came with compiler " +
             kModeParamsSince.text() + "; this one is version " + compiler.text());
    }
  }
}

// Nothing where the option is not given.
std::optional<int64_t> number_of(const std::map<std::string, std::string>& config,
                                 const std::string& option) {
  const auto found = config.find(option);
  if (found == config.end()) return std::nullopt;
  int64_t value = 0;
  const char* const end = found->second.data() + found->second.size();
  const auto [stop, error] = std::from_chars(found->second.data(), end, value);
  if (error != std::errc{} || stop != end) {
    refuse(option + " cannot be \"" + found->second + "\"");
  }
  return value;
}

void take_option(BuildFlags& flags, Pair pair, CompilerVersion compiler, uint32_t platform) {
  if (std::find(kDropped.begin(), kDropped.end(), pair.key) != kDropped.end()) return;
  const Option* const option = find_option(pair.key, compiler, platform);
  if (option == nullptr) {
    refuse("unknown option " + pair.key + " (compiler version " + compiler.text() +
           (platform == kEveryPlatform ? "" : ", platform " + std::to_string(platform)) + ")");
  }
  check_option(pair, *option, compiler);
  flags.config[std::string(option->name)] = std::move(pair.value);
}

}  // namespace

bool BuildFlags::profiling() const {
  const auto found = config.find("PERF_COUNT");
  return found != config.end() && found->second == "YES";
}

void BuildFlags::check_numbers(uint32_t device_tiles) const {
  if (number_of(config, "COMPILATION_NUM_THREADS").value_or(1) < 0) {
    refuse("COMPILATION_NUM_THREADS cannot be negative");
  }
  int64_t most = device_tiles;
  const int64_t allowed = number_of(config, "NPU_MAX_TILES").value_or(-1);
  if (allowed > 0) {
    most = std::min(most, allowed);
  }
  const int64_t tiles = number_of(config, "NPU_TILES").value_or(-1);
  if (tiles > most) {
    refuse("NPU_TILES is " + std::to_string(tiles) + ", at most " + std::to_string(most) +
           " are possible");
  }
}

bool BuildFlags::weights_by_address() const {
  const auto found = config.find("NPU_MODEL_SERIALIZER_VERSION");
  return found != config.end() && found->second == "NO_WEIGHTS_COPY";
}

std::string BuildFlags::batch_mode() const {
  const auto found = config.find("NPU_BATCH_MODE");
  return found != config.end() ? found->second : std::string();
}

std::string BuildFlags::strides_for() const {
  const auto found = config.find("NPU_ENABLE_STRIDES_FOR");
  return found != config.end() ? found->second : std::string();
}

BuildFlags parse_build_flags(std::string_view text, CompilerVersion compiler, uint32_t platform) {
  BuildFlags flags;
  bool in_config = false;
  for (;;) {
    text.remove_prefix(std::min(text.find_first_not_of(kBlanks), text.size()));
    if (text.empty()) return flags;
    constexpr std::string_view kConfig = "--config";
    const bool config_starts = text.substr(0, kConfig.size()) == kConfig &&
                               (text.size() == kConfig.size() ||
                                kBlanks.find(text[kConfig.size()]) != std::string_view::npos);
    if (config_starts) {
      in_config = true;
      text.remove_prefix(kConfig.size());
      continue;
    }
    Pair pair = take_pair(text);
    if (pair.key.rfind("--", 0) == 0) {
      in_config = false;
      flags.io[pair.key] = std::move(pair.value);
      continue;
    }
    if (!in_config) {
      refuse(pair.key + " stands before --config");
    }
    take_option(flags, std::move(pair), compiler, platform);
  }
}

BuildFlags parse_recorded_flags(std::string_view text) {
  return parse_build_flags(text, kNewestOfAll);
}

// Clients ask under today's names, whatever they then write.
std::string supported_options(CompilerVersion compiler, uint32_t platform) {
  std::string names;
  for (const Option& option : kOptions) {
    if (is_known(option, option.name, compiler, platform)) {
      names += (names.empty() ? "" : " ") + std::string(option.name);
    }
  }
  return names;
}

bool is_option_supported(std::string_view option, std::string_view value, CompilerVersion compiler,
                         uint32_t platform) {
  const std::string name = today_name(option, kNewestOfAll);
  const Option* const known = find_option(name, kNewestOfAll, kEveryPlatform);
  if (known == nullptr || !is_known(*known, option, compiler, platform)) return false;
  return value.empty() || known->values.empty() || is_one_of(value, known->values);
}

}  // namespace softnpu
