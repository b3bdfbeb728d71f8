#include "config.hpp"

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <optional>
#include <string_view>

namespace softnpu {
namespace {

constexpr uint32_t kDefaultPlatform = 4000;
#define SOFTNPU_NAME(platform, ...) ", " #platform
constexpr const char* kPlatformList = &ZE_NPU_PLATFORMS(SOFTNPU_NAME)[2];  // behind the first comma
#undef SOFTNPU_NAME
constexpr std::string_view kDelayPrefix = "delay:";

std::optional<uint64_t> parse_number(std::string_view text) {
  uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return value;
}

void complain(const char* name, const char* value, const char* choices) {
  std::fprintf(stderr, "softnpu: %s=\"%s\" is not one of %s; the default is used\n", name, value,
               choices);
}

void read_platform(const char* value, Config& config) {
  if (const auto* known = ze_npu_platform_of_number(parse_number(value).value_or(0))) {
    config.platform = known;
    return;
  }
  complain("SOFTNPU_PLATFORM", value, kPlatformList);
}

void read_execution(const char* text, Config& config) {
  const std::string_view value = text;
  if (value == "cpu") return;
  if (value == "null") {
    config.execution = Execution::kNull;
    return;
  }
  if (value.substr(0, kDelayPrefix.size()) == kDelayPrefix) {
    if (const auto delay_us = parse_number(value.substr(kDelayPrefix.size()))) {
      config.execution = Execution::kDelay;
      config.delay_us = *delay_us;
      return;
    }
  }
  complain("SOFTNPU_EXEC", text, "cpu, null, delay:<microseconds>");
}

bool read_flag(const char* name, const char* text) {
  const std::string_view value = text;
  if (value != "0" && value != "1") {
    complain(name, text, "0, 1");
  }
  return value == "1";
}

void read_allow_memfd(const char* text, Config& config) {
  config.allow_memfd = read_flag("SOFTNPU_ALLOW_MEMFD", text);
}

void read_strict(const char* text, Config& config) {
  config.strict = read_flag("SOFTNPU_STRICT", text);
}

void read_export(const char* text, Config& config) {
  const std::string_view value = text;
  if (value == "auto") {
    config.exports = Export::kAuto;
  } else if (value == "memfd") {
    config.exports = Export::kMemfd;
  } else if (value == "none") {
    config.exports = Export::kNone;
  } else {
    complain("SOFTNPU_EXPORT", text, "auto, memfd, none");
  }
}

struct VersionNumbers {
  uint64_t major;
  uint64_t minor;
};

std::optional<VersionNumbers> parse_version(std::string_view text) {
  const size_t dot = text.find('.');
  if (dot == std::string_view::npos) return std::nullopt;
  const auto major = parse_number(text.substr(0, dot));
  const auto minor = parse_number(text.substr(dot + 1));
  if (!major || !minor) return std::nullopt;
  return VersionNumbers{*major, *minor};
}

void read_graph_version(const char* value, Config& config) {
  const auto version = parse_version(value);
  const bool known = version && version->major == 1 && version->minor >= kOldestGraphMinor &&
                     version->minor <= kNewestGraphMinor;
  if (known) {
    config.graph_minor = static_cast<uint32_t>(version->minor);
    return;
  }
  complain("SOFTNPU_GRAPH_EXT_VERSION", value, "1.5 to 1.16");
}

void read_compiler_version(const char* value, Config& config) {
  constexpr uint64_t kOldestMajor = 3;
  constexpr uint64_t kMost = 99;
  const auto version = parse_version(value);
  if (version && version->major >= kOldestMajor && version->major <= kMost &&
      version->minor <= kMost) {
    config.compiler = {static_cast<uint16_t>(version->major),
                       static_cast<uint16_t>(version->minor)};
    return;
  }
  complain("SOFTNPU_COMPILER_VERSION", value, "3.0 to 99.99");
}

void read_compiler(const char* text, Config& config) {
  const std::string_view value = text;
  if (value != "software" && value != "real") {
    complain("SOFTNPU_COMPILER", text, "software, real");
  }
  config.real_compiler = value == "real";
}

void read_runtime_version(const char* value, Config& config) {
  const std::string_view text = value;
  const size_t dot = text.rfind('.');
  const uint64_t patch =
      parse_number(text.substr(std::min(dot, text.size() - 1) + 1)).value_or(UINT64_MAX);
  const auto version = parse_version(text.substr(0, std::min(dot, text.size())));
  const auto fits = [](uint64_t number) { return number <= UINT32_MAX; };
  if (version && fits(version->major) && fits(version->minor) && fits(patch)) {
    config.runtime =
        RuntimeVersion{static_cast<uint32_t>(version->major), static_cast<uint32_t>(version->minor),
                       static_cast<uint32_t>(patch)};
    return;
  }
  complain("SOFTNPU_RUNTIME_VERSION", value, "<major>.<minor>.<patch>");
}

void read_threads(const char* value, Config& config) {
  const auto threads = parse_number(value);
  if (threads && *threads <= 4096) {
    config.threads = static_cast<uint32_t>(*threads);
  } else {
    complain("SOFTNPU_THREADS", value, "0 (all cores) to 4096");
  }
}

void read_keep_compiled(const char* value, Config& config) {
  const auto models = parse_number(value);
  if (models && *models <= 64) {
    config.keep_compiled = static_cast<uint32_t>(*models);
  } else {
    complain("SOFTNPU_KEEP_COMPILED", value, "0 (none) to 64");
  }
}

void read_import_limit(const char* value, Config& config) {
  const auto bytes = parse_number(value);
  if (bytes) {
    config.import_limit_bytes = *bytes;
  } else {
    complain("SOFTNPU_IMPORT_LIMIT", value, "<bytes>");
  }
}

// Like Intel's driver: a limit that is no number makes a cache in which nothing fits.
void read_cache_limit(const char* value, Config& config) {
  const auto bytes = parse_number(value);
  config.cache_limit_bytes = bytes.value_or(0);
  if (!bytes) {
    std::fprintf(stderr, "softnpu: SOFTNPU_CACHE_SIZE=\"%s\" is not a number of bytes; 0 is used\n",
                 value);
  }
}

void read_refusal(const char* value, Config& config) {
  constexpr std::string_view kQuietly = "quietly:";
  const std::string_view text = value;
  const bool quietly = text.starts_with(kQuietly);
  config.refusal = {std::string(text.substr(quietly ? kQuietly.size() : 0)), quietly};
}

struct Variable {
  const char* name;
  void (*read)(const char* value, Config& config);
};

constexpr Variable kVariables[] = {
    {"SOFTNPU_PLATFORM", read_platform},
    {"SOFTNPU_EXEC", read_execution},
    {"SOFTNPU_ALLOW_MEMFD", read_allow_memfd},
    {"SOFTNPU_STRICT", read_strict},
    {"SOFTNPU_IMPORT_LIMIT", read_import_limit},
    {"SOFTNPU_EXPORT", read_export},
    {"SOFTNPU_THREADS", read_threads},
    {"SOFTNPU_KEEP_COMPILED", read_keep_compiled},
    {"SOFTNPU_GRAPH_EXT_VERSION", read_graph_version},
    {"SOFTNPU_COMPILER", read_compiler},
    {"SOFTNPU_COMPILER_LIBRARY",
     [](const char* value, Config& config) { config.compiler_library = value; }},
    {"SOFTNPU_COMPILER_VERSION", read_compiler_version},
    {"SOFTNPU_RUNTIME_VERSION", read_runtime_version},
    {"SOFTNPU_CACHE_DIR", [](const char* value, Config& config) { config.cache_folder = value; }},
    {"SOFTNPU_CACHE_SIZE", read_cache_limit},
    {"SOFTNPU_REFUSE", read_refusal},
    {"SOFTNPU_TRACE", [](const char* value, Config& config) { config.trace_path = value; }},
    {"SOFTNPU_FAULT", [](const char* value, Config& config) { config.faults = value; }},
};

}  // namespace

Config read_config(const char* (*get)(const char*)) {
  Config config{ze_npu_platform_of_number(kDefaultPlatform)};
  for (const Variable& variable : kVariables) {
    const char* const value = get(variable.name);
    if (value != nullptr && *value != '\0') {
      variable.read(value, config);
    }
  }
  return config;
}

const Config& config() {
  static const Config* const read = new Config(
      read_config([](const char* name) -> const char* { return ::secure_getenv(name); }));
  return *read;
}

uint32_t graph_minor() {
  return config().graph_minor;
}

bool graph_has(uint32_t minor) {
  return graph_minor() >= minor;
}

CompilerVersion compiler_version() {
  return config().compiler;
}

uint32_t platform_number() {
  return config().platform->platform;
}

}  // namespace softnpu
