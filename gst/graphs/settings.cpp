#include "settings.hpp"

#include <glib.h>

#include <charconv>
#include <sstream>
#include <utility>

#include <npucore/error.hpp>

namespace gstnpu {
namespace {

std::vector<std::string> split(const std::string& text, const char* separators) {
  std::vector<std::string> parts;
  std::size_t begin = text.find_first_not_of(separators);
  while (begin != std::string::npos) {
    const std::size_t end = text.find_first_of(separators, begin);
    parts.push_back(text.substr(begin, end - begin));
    begin = text.find_first_not_of(separators, end);
  }
  return parts;
}

[[noreturn]] void refuse(const std::string& property, const std::string& text,
                         const std::string& part, const std::string& advice) {
  std::ostringstream message;
  message.imbue(std::locale::classic());
  message << "the property " << property << " is \"" << text << "\", but \"" << part << "\" is "
          << advice;
  throw npu::Error(npu::ErrorCode::kInvalidArgument, message.str());
}

}  // namespace

bool Settings::opens_like(const Settings& other) const {
  Settings same = *this;
  static_cast<LiveSettings&>(same) = other;
  return same == other;
}

std::string Settings::first_difference(const Settings& other) const {
  const std::pair<const char*, bool> rows[] = {
      {"model", model == other.model},
      {"device", device == other.device},
      {"config", config == other.config},
      {"properties", properties == other.properties},
      {"cache-dir", cache_dir == other.cache_dir},
      {"input-shape", input_shape == other.input_shape},
      {"repair", repair == other.repair},
      {"resize-mode", resize == other.resize},
      {"channel-order", channels == other.channels},
      {"mean", mean == other.mean},
      {"scale", scale == other.scale},
  };
  for (const auto& [name, is_same] : rows) {
    if (!is_same) return name;
  }
  return {};
}

std::vector<float> parse_numbers(const std::string& property, const std::string& text) {
  std::vector<float> numbers;
  for (const std::string& part : split(text, ", ")) {
    gchar* end = nullptr;
    const double value = g_ascii_strtod(part.c_str(), &end);  // does not depend on the locale
    if (end == part.c_str() || *end != '\0') {
      refuse(property, text, part,
             "not a number; write one value or one per channel, like " + property +
                 "=123.7,116.3,103.5");
    }
    numbers.push_back(static_cast<float>(value));
  }
  return numbers;
}

npu::Shape parse_shape(const std::string& property, const std::string& text) {
  npu::Shape shape;
  for (const std::string& part : split(text, "[], ")) {
    std::int32_t size = 0;
    const char* const end = part.data() + part.size();
    const auto read = std::from_chars(part.data(), end, size);
    if (read.ec != std::errc() || read.ptr != end || size < 1) {
      refuse(property, text, part,
             "not a size; write one whole number for each dimension, like " + property +
                 "=1,3,640,640");
    }
    shape.push_back(size);
  }
  return shape;
}

std::map<std::string, std::string> parse_config(const std::string& text) {
  std::map<std::string, std::string> config;
  for (const std::string& part : split(text, ",")) {
    const std::size_t equals = part.find('=');
    if (equals == std::string::npos || equals == 0) {
      refuse("config", text, part, "not KEY=VALUE; write config=\"KEY=VALUE,KEY=VALUE\"");
    }
    config[part.substr(0, equals)] = part.substr(equals + 1);
  }
  return config;
}

namespace {

/// A shell leaves the ~ of cache-dir=~/models as it is.
std::string with_home(const std::string& path) {
  const bool is_below = path.starts_with("~/");
  return is_below || path == "~" ? g_get_home_dir() + path.substr(1) : path;
}

}  // namespace

npu::CompileOptions compile_options(const Settings& settings) {
  npu::CompileOptions options;
  options.config = parse_config(settings.config);
  options.properties = npu::Properties::parse(settings.properties);
  if (options.properties.is_set(npu::property::cache_id)) {
    refuse("properties", settings.properties, npu::property::cache_id.name,
           "for programs: an element compiles the model once for each layout of frames, and "
           "cache-dir finds each of them; leave it out");
  }
  if (!settings.cache_dir.empty()) {
    options.properties.set(npu::property::cache_dir, with_home(settings.cache_dir));
  }
  return options;
}

}  // namespace gstnpu
