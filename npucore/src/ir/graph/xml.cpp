#include "xml.hpp"

#include <cstring>
#include <new>

namespace npu::ir {
namespace {

void require(bool done) {
  if (!done) throw std::bad_alloc();
}

/// The bytes that a copy of the tree costs.
std::size_t weight(pugi::xml_node root) {
  struct Adder : pugi::xml_tree_walker {
    std::size_t sum = 0;
    bool for_each(pugi::xml_node& node) override {
      sum += 1 + std::strlen(node.name()) + std::strlen(node.value());
      for (auto attribute : node.attributes()) {
        sum += 1 + std::strlen(attribute.name()) + std::strlen(attribute.value());
      }
      return true;
    }
  };
  Adder adder;
  adder.for_each(root);
  root.traverse(adder);
  return adder.sum;
}

}  // namespace

pugi::xml_node made(pugi::xml_node node) {
  require(static_cast<bool>(node));
  return node;
}

pugi::xml_node add(pugi::xml_node parent, const char* name) {
  auto node = made(parent.append_child(name));
  require(std::strcmp(node.name(), name) == 0);
  return node;
}

void set(pugi::xml_node node, const char* name, const char* value) {
  auto attribute = node.attribute(name);
  if (!attribute) {
    attribute = node.append_attribute(name);
    require(std::strcmp(attribute.name(), name) == 0);
  }
  require(attribute.set_value(value));
}

void set(pugi::xml_node node, const char* name, const std::string& value) {
  set(node, name, value.c_str());
}

void set_text(pugi::xml_node node, const std::string& text) {
  require(node.text().set(text.c_str()));
}

pugi::xml_node add_copy(pugi::xml_node parent, pugi::xml_node source) {
  auto copy = made(parent.append_copy(source));
  require(weight(copy) == weight(source));
  return copy;
}

}  // namespace npu::ir
