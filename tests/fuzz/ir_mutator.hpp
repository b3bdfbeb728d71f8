#pragma once

#include <string>
#include <string_view>

#include "mutation.hpp"

namespace npu::fuzz {

/// An IR with one to four changes that know layers, ports and edges, or as mutate_xml().
std::string mutate_ir(std::string_view xml, Random& random);

}  // namespace npu::fuzz
