#include <stdexcept>

#include <npucore/error.hpp>
#include <npucore/properties.hpp>

#include "base/api.hpp"
#include "base/text.hpp"

#include "property_table.hpp"
#include "property_values.hpp"

namespace npu {
namespace {

using base::text;
using internal::PropertyRow;

const PropertyRow& writable_row(const std::string& name) {
  const PropertyRow* row = internal::find_property_row(name);
  if (!row) {
    internal::fail_unknown_property(name);
  }
  if (row->info.access == Access::kReadOnly) {
    throw Error(ErrorCode::kInvalidArgument,
                text("the property ", name, " can only be read: ", row->info.meaning));
  }
  return *row;
}

constexpr const char* kSeparators = " \t\n,";

[[noreturn]] void refuse(const std::string& part) {
  throw Error(
      ErrorCode::kInvalidArgument,
      text(base::quoted(part), " is not a property: write KEY=VALUE KEY=\"VALUE WITH BLANKS\""));
}

/// Cuts `KEY=VALUE` off the front of `rest`, which starts with no separator.
std::pair<std::string, std::string> take_pair(std::string& rest) {
  const auto equals = rest.find('=');
  const std::string key = rest.substr(0, equals);
  if (equals == std::string::npos || key.empty() || key.find_first_of(" \t\n,\"") != key.npos) {
    refuse(rest.substr(0, 60));
  }
  std::string value;
  std::size_t end = 0;
  if (equals + 1 < rest.size() && rest[equals + 1] == '"') {
    const auto close = rest.find('"', equals + 2);
    if (close == std::string::npos) {
      refuse(rest.substr(0, 60));
    }
    value = rest.substr(equals + 2, close - equals - 2);
    end = close + 1;
  } else {
    end = std::min(rest.find_first_of(kSeparators, equals), rest.size());
    value = rest.substr(equals + 1, end - equals - 1);
  }
  rest.erase(0, end);
  return {key, value};
}

}  // namespace

Properties& Properties::set(const std::string& name, const std::string& value) try {
  const PropertyRow& row = writable_row(name);
  try {
    values_[row.kept_as ? row.kept_as : name] = row.normalize(value);
  } catch (const std::invalid_argument& error) {
    throw Error(ErrorCode::kInvalidArgument, text("the property ", name, " cannot be ",
                                                  base::quoted(value), ": ", error.what()));
  }
  return *this;
} catch (...) {
  base::rethrow_as_error();
}

bool Properties::is_set(const std::string& name) const try {
  const PropertyRow* row = internal::find_property_row(name);
  return values_.count(row && row->kept_as ? row->kept_as : name) != 0;
} catch (...) {
  base::rethrow_as_error();
}

Properties& Properties::set(Property<bool> property, const char* value) try {
  return set(std::string(property), std::string(value));
} catch (...) {
  base::rethrow_as_error();
}

template <class T>
Properties& Properties::set(Property<T> property, const std::type_identity_t<T>& value) try {
  return set(property.name, internal::property_text(value));
} catch (...) {
  base::rethrow_as_error();
}

std::string Properties::get(const std::string& name) const try {
  const auto found = values_.find(name);
  if (found != values_.end()) return found->second;
  const PropertyRow& row = writable_row(name);
  return row.kept_as ? row.read_back(get(row.kept_as)) : row.info.default_value;
} catch (...) {
  base::rethrow_as_error();
}

template <class T>
T Properties::get(Property<T> property) const try {
  return internal::property_value<T>(get(std::string(property)));
} catch (...) {
  base::rethrow_as_error();
}

#define INSTANTIATE(T)                                         \
  template Properties& Properties::set(Property<T>, const T&); \
  template T Properties::get(Property<T>) const;
NPU_FOR_PROPERTY_TYPES(INSTANTIATE)
#undef INSTANTIATE

Properties Properties::parse(const std::string& words) try {
  Properties properties;
  std::string rest = words;
  for (;;) {
    rest.erase(0, rest.find_first_not_of(kSeparators));
    if (rest.empty()) return properties;
    const auto [key, value] = take_pair(rest);
    properties.set(key, value);
  }
} catch (...) {
  base::rethrow_as_error();
}

std::string Properties::to_string() const try {
  std::string words;
  for (const auto& [name, value] : values_) {
    const bool plain = !value.empty() && value.find_first_of(kSeparators) == std::string::npos;
    words += text(words.empty() ? "" : " ", name, '=', plain ? "" : "\"", value, plain ? "" : "\"");
  }
  return words;
} catch (...) {
  base::rethrow_as_error();
}

Properties Properties::over(const Properties& defaults) const {
  Properties all = *this;
  all.values_.insert(defaults.values_.begin(), defaults.values_.end());
  return all;
}

}  // namespace npu
