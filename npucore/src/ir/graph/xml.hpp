#pragma once

#include <array>
#include <charconv>
#include <concepts>
#include <pugixml.hpp>
#include <string>

namespace npu::ir {

// pugixml reports exhausted memory by an empty node, or by false. Unnoticed, a part of the model
// would be missing, so all these throw std::bad_alloc.

/// Passes on a node that was added or copied.
pugi::xml_node made(pugi::xml_node node);
pugi::xml_node add(pugi::xml_node parent, const char* name);
/// Changes an attribute, or adds it.
void set(pugi::xml_node node, const char* name, const char* value);
void set(pugi::xml_node node, const char* name, const std::string& value);
void set(pugi::xml_node node, const char* name, std::integral auto value) {
  set(node, name, std::to_string(value));
}
/// The shortest text that reads back as the same number, in every locale.
std::string shortest(std::floating_point auto value) {
  std::array<char, 64> text{};
  const auto result = std::to_chars(text.data(), text.data() + text.size(), value);
  return {text.data(), result.ptr};
}
void set(pugi::xml_node node, const char* name, std::floating_point auto value) {
  set(node, name, shortest(value));
}
void set_text(pugi::xml_node node, const std::string& text);
/// A copy of the tree below `source`, as a new child of `parent`.
pugi::xml_node add_copy(pugi::xml_node parent, pugi::xml_node source);

}  // namespace npu::ir
