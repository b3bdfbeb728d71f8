#pragma once

#include <string_view>

#include <npucore/types.hpp>

namespace npu::base {

/// The inverse of to_string(ElementType), in any letter case; kUnknown for a name that it does not
/// know.
ElementType element_type_from_string(std::string_view name);

}  // namespace npu::base
