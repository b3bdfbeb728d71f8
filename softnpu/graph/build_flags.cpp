#include "build_flags.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>

#include <ze_npu/platforms.h>

#include "base/failure.hpp"

namespace softnpu {
namespace {

struct Option {
  std::string_view name;
  std::string_view values;  // separated by '|', or one of the kinds below; empty: any
  CompilerVersion since;
  uint32_t first_platform = 0;
};

constexpr CompilerVersion kAlways{0, 0};

constexpr std::string_view kYesOrNo = "YES|NO|TRUE|FALSE|1|0";  // in any case
constexpr std::string_view kWhole = "a whole number";
constexpr std::string_view kPositive = "a whole number above 0";
constexpr std::string_view kFromZero = "a whole number from 0 on";
#define SOFTNPU_NAME(platform, ...) "|" #platform
constexpr std::string_view kPlatforms = "AUTO_DETECT" ZE_NPU_PLATFORMS(SOFTNPU_NAME);  // NPU_...
#undef SOFTNPU_NAME

// In the order in which Intel's compiler learnt them, with the values of 8.4. Options that only
// steer how hardware would schedule the graph are taken and change nothing here.
constexpr std::array<Option, 28> kOptions = {{
    {"PERF_COUNT", kYesOrNo, kAlways},
    {"COMPILATION_NUM_THREADS", kPositive, kAlways},
    {"PERFORMANCE_HINT", "LATENCY|THROUGHPUT|CUMULATIVE_THROUGHPUT|", kAlways},
    {"EXECUTION_MODE_HINT", "PERFORMANCE|ACCURACY", {5, 6}},
    {"INFERENCE_PRECISION_HINT", "f16|i8|", {5, 4}},
    {"LOG_LEVEL", "LOG_NONE|LOG_ERROR|LOG_WARNING|LOG_INFO|LOG_DEBUG|LOG_TRACE", kAlways},
    {"NPU_PLATFORM", kPlatforms, kAlways},
    {"NPU_TILES", kPositive, {5, 4}},
    {"NPU_MAX_TILES", kWhole, kAlways},
    {"NPU_STEPPING", kWhole, {5, 3}},
    {"NPU_DMA_ENGINES", "1|2", kAlways},
    {"NPU_TURBO", kYesOrNo, {7, 21}},
    {"NPU_BATCH_MODE", "AUTO|PLUGIN|COMPILER", {5, 5}},
    {"NPU_BATCH_COMPILER_MODE_SETTINGS", "", {7, 4}},
    {"NPU_COMPILATION_MODE", "DefaultHW|ReferenceSW|HostCompile", kAlways},
    {"NPU_COMPILATION_MODE_PARAMS", "", kAlways},
    {"NPU_BACKEND_COMPILATION_PARAMS", "", kAlways},
    {"NPU_DYNAMIC_SHAPE_TO_STATIC", kYesOrNo, kAlways},
    {"NPU_COMPILER_DYNAMIC_QUANTIZATION", kYesOrNo, {7, 1}},
    {"NPU_QDQ_OPTIMIZATION", kYesOrNo, {7, 20}},
    {"NPU_QDQ_OPTIMIZATION_AGGRESSIVE", kYesOrNo, {7, 20}},
    {"NPU_MODEL_SERIALIZER_VERSION", "ALL_WEIGHTS_COPY|NO_WEIGHTS_COPY", {7, 5}},
    {"NPU_ENABLE_STRIDES_FOR", "", {7, 5}, 4000},
    // The plugin's options, taken without effect: compiler 8.4 lists them; since when is unknown.
    {"CACHE_MODE", "OPTIMIZE_SIZE|OPTIMIZE_SPEED", {8, 4}},
    {"COMPATIBILITY_CHECK", "SUPPORTED|UNSUPPORTED|NOT_APPLICABLE", {8, 4}},
    {"DEVICE_ID", "", {8, 4}},
    {"NPU_COMPILER_TYPE", "DRIVER|PLUGIN|PREFER_PLUGIN", {8, 4}},
    {"PERFORMANCE_HINT_NUM_REQUESTS", kFromZero, {8, 4}},
}};

// The plugin's options that old clients pass to the compiler, which drops them.
constexpr std::array<std::string_view, 2> kDropped = {"MODEL_PRIORITY", "CACHE_DIR"};

// Parts of NPU_COMPILATION_MODE_PARAMS that came later than the option, with their values.
constexpr CompilerVersion kModeParamsSince{5, 7};
struct ModeParam {
  std::string_view name, values;
};
constexpr std::array<ModeParam, 2> kModeParams = {
    {{"optimization-level", "0|1|2|3"}, {"performance-hint-override", "latency|efficiency"}}};

constexpr std::string_view kPrefix = "NPU_";
constexpr std::string_view kOldPrefix = "VPU_";      // before 5.0
constexpr std::string_view kOldestPrefix = "VPUX_";  // before 4.0
constexpr CompilerVersion kNewestOfAll{UINT16_MAX, UINT16_MAX};

constexpr std::string_view kBlanks = " \t\r\n";

bool is_one_of(std::string_view value, std::string_view list) {
  for (;;) {
    const size_t end = std::min(list.find('|'), list.size());
    if (list.substr(0, end) == value) return true;
    if (end == list.size()) return false;
    list.remove_prefix(end + 1);
  }
}

// Reads a number as 8.4 does: text behind the digits does not count.
std::optional<int64_t> whole_number(std::string_view text) {
  int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc{} ? std::optional(value) : std::nullopt;
}

std::string_view without_prefix(std::string_view text,
                                std::initializer_list<const char*> prefixes) {
  for (const std::string_view prefix : prefixes) {
    if (text.substr(0, prefix.size()) == prefix) return text.substr(prefix.size());
  }
  return text;
}

bool is_possible(std::string_view value, std::string_view values) {
  constexpr int64_t kMost = INT32_MAX;
  const auto number = whole_number(value);
  if (values.empty()) return true;
  if (values == kWhole) return number.has_value();
  if (values == kPositive) return number && *number > 0 && *number <= kMost;
  if (values == kFromZero) return number && *number >= 0;
  if (values == kYesOrNo) return is_one_of(in_capitals(value), values);
  if (values == kPlatforms) return is_one_of(without_prefix(value, {"NPU", "VPU"}), values);
  return is_one_of(value, values);
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

// Null if the compiler does not know the option.
const Option* find_option(std::string_view given, CompilerVersion compiler, uint32_t platform) {
  const std::string name = today_name(given, compiler);
  const auto found = std::find_if(kOptions.begin(), kOptions.end(),
                                  [&name](const Option& option) { return option.name == name; });
  return found == kOptions.end() || !is_known(*found, given, compiler, platform) ? nullptr
                                                                                 : &*found;
}

[[noreturn]] void refuse_flags(const std::string& reason) {
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
    refuse_flags("NAME=\"VALUE\" was expected at \"" + std::string(rest.substr(0, 60)) + "\"");
  }
  const size_t close = rest.find('"', equals + 2);
  if (close == std::string_view::npos) {
    refuse_flags("the value of " + std::string(rest.substr(0, equals)) + " has no closing quote");
  }
  if (close + 1 < rest.size() && kBlanks.find(rest[close + 1]) == std::string_view::npos) {
    refuse_flags("no blank follows the value of " + std::string(rest.substr(0, equals)));
  }
  Pair pair{std::string(rest.substr(0, equals)),
            std::string(rest.substr(equals + 2, close - equals - 2))};
  rest.remove_prefix(close + 1);
  return pair;
}

// The value of `param` in "<name>=<value> <name>=<value>"; nothing if it is missing.
std::optional<std::string_view> value_in(std::string_view params, std::string_view param) {
  const size_t at = params.find(param);
  if (at == std::string_view::npos) return std::nullopt;
  std::string_view rest = params.substr(at + param.size());
  rest.remove_prefix(begins_with(rest, "=") ? 1 : 0);
  return rest.substr(0, rest.find_first_of(kBlanks));
}

void check_mode_params(const Pair& pair, CompilerVersion compiler) {
  for (const auto& [name, values] : kModeParams) {
    const auto value = value_in(pair.value, name);
    if (!value) continue;
    if (!compiler.at_least(kModeParamsSince.major, kModeParamsSince.minor)) {
      refuse_flags(pair.key + " has " + std::string(name) + ", which came with compiler " +
                   kModeParamsSince.text() + "; this one is version " + compiler.text());
    }
    if (!is_one_of(*value, values)) {
      refuse_flags(pair.key + ": " + std::string(name) + " cannot be \"" + std::string(*value) +
                   "\", only " + std::string(values));
    }
  }
}

void check_option(const Pair& pair, const Option& option, CompilerVersion compiler) {
  if (!is_possible(pair.value, option.values)) {
    refuse_flags(pair.key + " cannot be \"" + pair.value + "\", only " +
                 std::string(option.values));
  }
  if (option.name == "NPU_COMPILATION_MODE_PARAMS") {
    check_mode_params(pair, compiler);
  }
}

/// Cuts the word --config off the front of `rest`; false if it is not there.
bool take_config(std::string_view& rest) {
  constexpr std::string_view kConfig = "--config";
  if (!begins_with(rest, kConfig)) return false;
  const bool is_word =
      rest.size() == kConfig.size() || kBlanks.find(rest[kConfig.size()]) != std::string_view::npos;
  rest.remove_prefix(is_word ? kConfig.size() : 0);
  return is_word;
}

class Parser {
 public:
  /// Parses the flags of a native binary.
  Parser() : compiler_(kNewestOfAll), platform_(kEveryPlatform), recorded_(true) {}
  Parser(CompilerVersion compiler, uint32_t platform)
      : compiler_(compiler), platform_(platform), recorded_(false) {}

  BuildFlags parse(std::string_view text) {
    for (;;) {
      text.remove_prefix(std::min(text.find_first_not_of(kBlanks), text.size()));
      if (text.empty()) return std::move(flags_);
      if (take_config(text)) {
        begin_config();
      } else {
        take(take_pair(text));
      }
    }
  }

 private:
  /// Compilers read everything after it as options.
  void begin_config() {
    if (in_config_ && !recorded_) {
      refuse_option("--config");
    }
    in_config_ = true;
  }
  void take(Pair pair) {
    const bool is_io = begins_with(pair.key, "--");
    if (is_io && (!in_config_ || recorded_)) {
      in_config_ = false;
      if (!recorded_ && flags_.io.count(pair.key) != 0) {
        refuse_flags(pair.key + " is there twice");
      }
      flags_.io[pair.key] = std::move(pair.value);
    } else if (in_config_) {
      take_option(std::move(pair));
    } else {
      refuse_flags(pair.key + " stands before --config");
    }
  }
  void take_option(Pair pair) {
    if (std::find(kDropped.begin(), kDropped.end(), pair.key) != kDropped.end()) return;
    const Option* const option = find_option(pair.key, compiler_, platform_);
    if (option == nullptr) {
      refuse_option(pair.key);
    }
    if (!recorded_) {
      check_option(pair, *option, compiler_);
    }
    flags_.config[std::string(option->name)] = std::move(pair.value);
  }
  /// Throws in the words of Intel's compiler.
  [[noreturn]] void refuse_option(const std::string& name) const {
    const std::string of_platform =
        platform_ == kEveryPlatform ? "" : ", platform " + std::to_string(platform_);
    refuse_flags("[ NOT_FOUND ] Option '" + name +
                 "' is not supported for current configuration (compiler version " +
                 compiler_.text() + of_platform + ")");
  }

  const CompilerVersion compiler_;
  const uint32_t platform_;
  const bool recorded_;
  bool in_config_ = false;
  BuildFlags flags_;
};

}  // namespace

std::string in_capitals(std::string_view text) {
  std::string letters(text);
  for (char& letter : letters) {
    letter = letter >= 'a' && letter <= 'z' ? static_cast<char>(letter - 'a' + 'A') : letter;
  }
  return letters;
}

bool BuildFlags::profiling() const {
  const auto found = config.find("PERF_COUNT");
  return found != config.end() && is_one_of(in_capitals(found->second), "YES|TRUE|1");
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
  return Parser(compiler, platform).parse(text);
}

BuildFlags parse_recorded_flags(std::string_view text) {
  return Parser().parse(text);
}

// Lists today's names: clients ask with these, whatever they then write.
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
  return value.empty() || is_possible(value, known->values);
}

}  // namespace softnpu
