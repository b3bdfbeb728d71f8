#pragma once

#include <functional>
#include <span>
#include <string>

#include <npucore/properties.hpp>

namespace npu::internal {

/// Gives a value's one spelling; throws std::invalid_argument that says what it should be.
using NormalizeValue = std::string (*)(const std::string& value);

/// One row: all that the library knows about a property. Everything else about properties follows
/// from this table.
struct PropertyRow {
  PropertyInfo info;
  NormalizeValue normalize = nullptr;  ///< null: read-only
  /// Compilers that do not know it do not get it; if false, that is an error.
  bool optional_for_compiler = false;
  /// Another row's name: values are kept there, as `normalize` spells them for that row. Null: its
  /// own.
  const char* kept_as = nullptr;
  NormalizeValue read_back = nullptr;  ///< with kept_as: this row's word for the other row's value
};

/// Ordered by name.
const std::vector<PropertyRow>& property_rows();
/// Null for an unknown name.
const PropertyRow* find_property_row(const std::string& name);

/// Throws Error(kInvalidArgument): "no property is called 'x'; did you mean a, b?".
[[noreturn]] void fail_unknown_property(const std::string& name);

}  // namespace npu::internal
