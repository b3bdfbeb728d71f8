#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include <npucore/device.hpp>
#include <npucore/properties.hpp>

/// A property and its value on a device.
struct PropertyValue {
  npu::PropertyInfo info;
  std::optional<std::string> value;  ///< none: it belongs to a compiled model, or has no answer
  std::string why_none;
};

/// Every property; without a device, only its description.
std::vector<PropertyValue> property_values(const npu::Device* device);
nlohmann::ordered_json to_json(const std::vector<PropertyValue>& properties);
std::string to_text(const std::vector<PropertyValue>& properties);
