#include "build_flags.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>

#include "failure.hpp"

namespace softnpu {
namespace {

struct Option {
  std::string_view name;
  std::string_view values;  // separated by '|'; empty: any
};

// Options that only steer how hardware would schedule the graph are taken and change nothing here.
constexpr std::array<Option, 16> kOptions = {{
    {"PERF_COUNT", "YES|NO"},
    {"COMPILATION_NUM_THREADS", ""},
    {"PERFORMANCE_HINT", "LATENCY|THROUGHPUT|CUMULATIVE_THROUGHPUT|UNDEFINED"},
    {"EXECUTION_MODE_HINT", "PERFORMANCE|ACCURACY"},
    {"INFERENCE_PRECISION_HINT", ""},
    {"LOG_LEVEL", ""},
    {"NPU_PLATFORM", ""},
    {"NPU_TILES", ""},
    {"NPU_MAX_TILES", ""},
    {"NPU_STEPPING", ""},
    {"NPU_DMA_ENGINES", ""},
    {"NPU_TURBO", "YES|NO"},
    {"NPU_BATCH_MODE", ""},
    {"NPU_COMPILATION_MODE", ""},
    {"NPU_COMPILATION_MODE_PARAMS", ""},
    {"NPU_MODEL_SERIALIZER_VERSION", "ALL_WEIGHTS_COPY"},
}};

constexpr std::string_view kBlanks = " \t\r\n";

bool is_one_of(std::string_view value, std::string_view list) {
  while (!list.empty()) {
    const size_t end = std::min(list.find('|'), list.size());
    if (list.substr(0, end) == value) return true;
    list.remove_prefix(std::min(end + 1, list.size()));
  }
  return false;
}

const Option* find_option(std::string_view name) {
  const auto found = std::find_if(kOptions.begin(), kOptions.end(),
                                  [name](const Option& option) { return option.name == name; });
  return found == kOptions.end() ? nullptr : &*found;
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
  if (!quoted || rest.substr(0, equals).find_first_of(kBlanks) != std::string_view::npos)
    refuse("NAME=\"VALUE\" was expected at \"" + std::string(rest.substr(0, 60)) + "\"");
  const size_t close = rest.find('"', equals + 2);
  if (close == std::string_view::npos)
    refuse("the value of " + std::string(rest.substr(0, equals)) + " has no closing quote");
  Pair pair{std::string(rest.substr(0, equals)),
            std::string(rest.substr(equals + 2, close - equals - 2))};
  rest.remove_prefix(close + 1);
  return pair;
}

void check_option(const Pair& pair) {
  const Option* const option = find_option(pair.key);
  if (option == nullptr) refuse("unknown option " + pair.key);
  if (!option->values.empty() && !is_one_of(pair.value, option->values))
    refuse(pair.key + " cannot be \"" + pair.value + "\", only " + std::string(option->values));
}

}  // namespace

bool BuildFlags::profiling() const {
  const auto found = config.find("PERF_COUNT");
  return found != config.end() && found->second == "YES";
}

uint32_t BuildFlags::compilation_threads() const {
  const auto found = config.find("COMPILATION_NUM_THREADS");
  if (found == config.end()) return 0;
  uint32_t value = 0;
  const char* const end = found->second.data() + found->second.size();
  const auto [stop, error] = std::from_chars(found->second.data(), end, value);
  if (error != std::errc{} || stop != end)
    refuse("COMPILATION_NUM_THREADS cannot be \"" + found->second + "\"");
  return value;
}

BuildFlags parse_build_flags(std::string_view text) {
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
    if (!in_config) refuse(pair.key + " stands before --config");
    check_option(pair);
    flags.config[pair.key] = std::move(pair.value);
  }
}

const std::string& supported_options() {
  static const auto* const text = [] {
    auto* const names = new std::string;
    for (const Option& option : kOptions)
      *names += (names->empty() ? "" : " ") + std::string(option.name);
    return names;
  }();
  return *text;
}

bool is_option_supported(std::string_view option, std::string_view value) {
  const Option* const known = find_option(option);
  if (known == nullptr) return false;
  return value.empty() || known->values.empty() || is_one_of(value, known->values);
}

}  // namespace softnpu
