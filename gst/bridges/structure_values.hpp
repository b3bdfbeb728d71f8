// Numbers and bytes in GstStructures, as results have them.
#pragma once

#include <gst/gst.h>

#include <cstddef>
#include <cstring>
#include <optional>
#include <span>
#include <vector>

namespace gstnpu {

inline std::optional<double> number(const GstStructure* structure, const char* field) {
  double value = 0;
  if (!gst_structure_get_double(structure, field, &value)) return std::nullopt;
  return value;
}

/// Edges, 0..1 of the frame.
struct Normalised {
  double left, top, right, bottom;
};

inline std::optional<Normalised> edges_of(const GstStructure* structure) {
  const auto left = number(structure, "x_min"), right = number(structure, "x_max");
  const auto top = number(structure, "y_min"), bottom = number(structure, "y_max");
  if (!left || !right || !top || !bottom) return std::nullopt;
  return Normalised{*left, *top, *right, *bottom};
}

/// The bytes of a field; empty where there are none.
inline std::span<const std::byte> bytes_of(const GstStructure* structure, const char* field) {
  const GValue* value = gst_structure_get_value(structure, field);
  if (!value || !G_VALUE_HOLDS(value, G_TYPE_BYTES) || !g_value_get_boxed(value)) return {};
  gsize size = 0;
  const auto* data = g_bytes_get_data(static_cast<GBytes*>(g_value_get_boxed(value)), &size);
  return {static_cast<const std::byte*>(data), size};
}

template <typename Value>
std::vector<Value> values_of(const GstStructure* structure, const char* field) {
  const auto bytes = bytes_of(structure, field);
  std::vector<Value> values(bytes.size() / sizeof(Value));
  if (!values.empty()) {
    std::memcpy(values.data(), bytes.data(), values.size() * sizeof(Value));
  }
  return values;
}

template <typename Value>
void set_bytes(GstStructure* structure, const char* field, std::span<const Value> values) {
  GBytes* bytes = g_bytes_new(values.data(), values.size_bytes());
  gst_structure_set(structure, field, G_TYPE_BYTES, bytes, nullptr);
  g_bytes_unref(bytes);
}

}  // namespace gstnpu
