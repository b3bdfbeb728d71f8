#include "config.hpp"

#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <optional>
#include <string_view>

namespace softnpu {
namespace {

constexpr uint32_t kDefaultPlatform = 4000;
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
  const uint64_t number = parse_number(value).value_or(0);
  const bool known = number == 3720 || number == 4000 || number == 5010;
  if (known) {
    config.platform = ze_npu_platform_of_number(static_cast<uint32_t>(number));
    return;
  }
  complain("SOFTNPU_PLATFORM", value, "3720, 4000, 5010");
}

void read_execution(std::string_view value, Config& config) {
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
  complain("SOFTNPU_EXEC", std::string(value).c_str(), "cpu, null, delay:<microseconds>");
}

void read_switch(const char* name, std::string_view value, bool& result) {
  if (value == "1") {
    result = true;
  } else if (value != "0") {
    complain(name, std::string(value).c_str(), "0, 1");
  }
}

void read_threads(const char* value, Config& config) {
  const auto threads = parse_number(value);
  if (threads && *threads <= 4096) {
    config.threads = static_cast<uint32_t>(*threads);
  } else {
    complain("SOFTNPU_THREADS", value, "0 (all cores) to 4096");
  }
}

}  // namespace

Config read_config(const char* (*get)(const char*)) {
  const auto given = [get](const char* name) {
    const char* value = get(name);
    return value != nullptr && *value != '\0' ? value : nullptr;
  };
  Config config{ze_npu_platform_of_number(kDefaultPlatform)};
  if (const char* value = given("SOFTNPU_PLATFORM")) read_platform(value, config);
  if (const char* value = given("SOFTNPU_EXEC")) read_execution(value, config);
  if (const char* value = given("SOFTNPU_ALLOW_MEMFD"))
    read_switch("SOFTNPU_ALLOW_MEMFD", value, config.allow_memfd);
  if (const char* value = given("SOFTNPU_THREADS")) read_threads(value, config);
  if (const char* value = given("SOFTNPU_TRACE")) config.trace_path = value;
  if (const char* value = given("SOFTNPU_FAULT")) config.faults = value;
  return config;
}

const Config& config() {
  static const Config* const read =
      new Config(read_config([](const char* name) -> const char* { return std::getenv(name); }));
  return *read;
}

}  // namespace softnpu
