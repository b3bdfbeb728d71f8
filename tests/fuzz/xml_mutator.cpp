#include "xml_mutator.hpp"

namespace npu::fuzz {
namespace {

std::vector<pugi::xml_attribute> attributes_of(pugi::xml_node node) {
  std::vector<pugi::xml_attribute> found;
  for (auto attribute : node.attributes()) found.push_back(attribute);
  return found;
}

/// A value that some attribute or text of the document has already: ids, names, types, sizes.
std::string value_of_another(const std::vector<pugi::xml_node>& elements, Random& random) {
  const auto node = random.pick(elements);
  const auto attributes = attributes_of(node);
  return attributes.empty() ? node.child_value() : random.pick(attributes).value();
}

std::string new_value(const std::string& old, const std::vector<pugi::xml_node>& elements,
                      Random& random) {
  switch (random.below(5)) {
    case 0:
      return std::to_string(random.number());
    case 1:
      return mutate_bytes(old, 16);
    case 2:
      return random.one_in(2) ? std::string() : "-" + std::to_string(random.number());
    default:
      return value_of_another(elements, random);
  }
}

void change_value(pugi::xml_node node, const std::vector<pugi::xml_node>& elements,
                  Random& random) {
  auto attributes = attributes_of(node);
  if (attributes.empty() || random.one_in(8)) {
    if (!node.first_child() || node.first_child().type() == pugi::node_pcdata) {
      node.text().set(new_value(node.child_value(), elements, random).c_str());
    }
    return;
  }
  auto& attribute = random.pick(attributes);
  attribute.set_value(new_value(attribute.value(), elements, random).c_str());
}

void change_attributes(pugi::xml_node node, pugi::xml_node other, Random& random) {
  const auto attributes = attributes_of(random.one_in(2) ? node : other);
  if (attributes.empty()) return;
  const auto attribute = random.pick(attributes);
  if (!node.remove_attribute(attribute)) {
    node.append_copy(attribute);
  }
}

bool is_inside(pugi::xml_node node, pugi::xml_node tree) {
  for (; node; node = node.parent()) {
    if (node == tree) return true;
  }
  return false;
}

void change_place(pugi::xml_node node, pugi::xml_node target, Random& random) {
  if (is_inside(target, node)) return;
  if (random.one_in(2)) {
    target.append_move(node);
  } else {
    target.parent().insert_move_before(node, target);
  }
}

void copy_element(pugi::xml_node node, pugi::xml_node target, Random& random) {
  constexpr std::size_t kMost = 100;  // a copy of a copy of the whole is no use
  std::size_t inside = 0;
  for (auto child : node.children()) inside += 1 + (child.first_child() ? 4 : 0);
  if (inside > kMost || is_inside(target, node)) return;
  if (random.one_in(2)) {
    node.parent().insert_copy_after(node, node);
  } else {
    target.append_copy(node);
  }
}

}  // namespace

std::vector<pugi::xml_node> elements_of(const pugi::xml_document& document) {
  struct Walker : pugi::xml_tree_walker {
    std::vector<pugi::xml_node> found;
    bool for_each(pugi::xml_node& node) override {
      if (node.type() == pugi::node_element) {
        found.push_back(node);
      }
      return true;
    }
  };
  Walker walker;
  pugi::xml_node(document).traverse(walker);
  return std::move(walker.found);
}

bool is_too_deep(const pugi::xml_document& document) {
  constexpr int kMost = 1000;
  struct Walker : pugi::xml_tree_walker {
    bool for_each(pugi::xml_node&) override { return depth() < kMost; }
  };
  Walker walker;
  return !pugi::xml_node(document).traverse(walker);
}

void mutate_tree(pugi::xml_document& document, Random& random) {
  const auto elements = elements_of(document);
  if (elements.size() < 2) return;
  auto node = random.pick(elements);
  const auto other = elements[1 + random.below(elements.size() - 1)];
  switch (random.below(9)) {
    case 0:
      change_attributes(node, other, random);
      break;
    case 1:
      copy_element(other, node, random);
      break;
    case 2:
      change_place(other, node, random);
      break;
    case 3:
      other.parent().remove_child(other);
      break;
    case 4:
      node.set_name(other.name());
      break;
    default:
      change_value(node, elements, random);
      break;
  }
}

std::string to_text(const pugi::xml_document& document) {
  struct Writer : pugi::xml_writer {
    std::string text;
    void write(const void* data, std::size_t size) override {
      text.append(static_cast<const char*>(data), size);
    }
  };
  Writer writer;
  document.save(writer, "", pugi::format_raw, pugi::encoding_utf8);
  return std::move(writer.text);
}

std::string mutate_xml(std::string_view xml, Random& random) {
  pugi::xml_document document;
  if (random.one_in(10) || !document.load_buffer(xml.data(), xml.size()) || is_too_deep(document)) {
    return mutate_bytes(std::string(xml));
  }
  for (auto changes = 1 + random.below(4); changes > 0; --changes) mutate_tree(document, random);
  return to_text(document);
}

}  // namespace npu::fuzz
