#pragma once

#include <pugixml.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "mutation.hpp"

namespace npu::fuzz {

/// All elements, the root first.
std::vector<pugi::xml_node> elements_of(const pugi::xml_document& document);

/// One change somewhere in the tree: a value, an attribute, an element, its place.
void mutate_tree(pugi::xml_document& document, Random& random);

std::string to_text(const pugi::xml_document& document);

/// The XML with one to four changes of its tree; by bytes where it is none.
std::string mutate_xml(std::string_view xml, Random& random);

/// Whether elements lie so deep that nobody's reader takes them: removing such a tree is a
/// recursion inside pugixml, which the mutators do too.
bool is_too_deep(const pugi::xml_document& document);

}  // namespace npu::fuzz
