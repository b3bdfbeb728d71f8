#pragma once

#include <pugixml.hpp>

namespace npu::ir {

/// Removes the Identity layers of a graph, which may be a body: the layer before one feeds the
/// layers after it, and takes over its names. An Identity that nothing feeds stays.
void drop_identities(pugi::xml_node graph);

}  // namespace npu::ir
