#include "property_report.hpp"

#include <cstdio>
#include <sstream>

#include <npucore/error.hpp>

namespace {

using nlohmann::ordered_json;

const char* access_text(npu::Access access) {
  return access == npu::Access::kReadOnly ? "read-only" : "read-write";
}

PropertyValue value_of(const npu::PropertyInfo& info, const npu::Device* device) {
  PropertyValue property{info, {}, {}};
  if (!info.of_device) {
    property.why_none = "of a compiled model";
  } else if (device == nullptr) {
    property.why_none = "no device";
  } else {
    try {
      property.value = device->get_property(info.name);
    } catch (const npu::Error& error) {
      property.why_none = error.what();
    }
  }
  return property;
}

}  // namespace

std::vector<PropertyValue> property_values(const npu::Device* device) {
  std::vector<PropertyValue> properties;
  for (const auto& info : npu::known_properties()) properties.push_back(value_of(info, device));
  return properties;
}

ordered_json to_json(const std::vector<PropertyValue>& properties) {
  auto json = ordered_json::array();
  for (const auto& property : properties) {
    const auto& info = property.info;
    json.push_back({{"name", info.name},
                    {"access", access_text(info.access)},
                    {"value", property.value ? ordered_json(*property.value) : nullptr},
                    {"values", info.values},
                    {"default", info.default_value},
                    {"meaning", info.meaning},
                    {"of_device", info.of_device},
                    {"of_model", info.of_model},
                    {"changeable", info.changeable},
                    {"compile_time", info.compile_time},
                    {"in_cache_key", info.in_cache_key}});
  }
  return json;
}

std::string to_text(const std::vector<PropertyValue>& properties) {
  std::ostringstream out;
  for (const auto& property : properties) {
    const auto& info = property.info;
    char head[128] = {};
    std::snprintf(head, sizeof(head), "%-42s %-10s ", info.name.c_str(), access_text(info.access));
    out << head << (property.value ? *property.value : "(" + property.why_none + ")") << '\n';
    out << "    " << info.meaning << "\n    values: " << info.values;
    if (info.access == npu::Access::kReadWrite) {
      out << "; default: " << (info.default_value.empty() ? "empty" : info.default_value);
    }
    out << '\n';
  }
  return out.str();
}
