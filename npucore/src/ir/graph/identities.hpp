#pragma once

#include <pugixml.hpp>

namespace npu::ir {

/// Takes the Identity layers out of a graph, which may be a body: what fed one feeds what it fed,
/// and is called what it was called. One that nothing feeds stays.
void drop_identities(pugi::xml_node graph);

}  // namespace npu::ir
