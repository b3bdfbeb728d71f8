#pragma once

#include <string>
#include <vector>

#include <npucore/model.hpp>

#include "document.hpp"

namespace npu::ir {

/// The layers whose values depend on the inputs, each after those that feed it, else in the file's
/// order. Without Parameters, Results and layers that give no value.
std::vector<Layer> read_layers(const Document& document);

/// Adds a Result for each value of a layer that has none. Throws Error(kNotFound).
void add_output(Document& document, const std::string& layer);

/// Removes all of read_layers() but the first `count`. Values of these that the others used get a
/// Result, unless they follow from sizes alone: the compiler computes those anew.
void keep_first(Document& document, std::size_t count);

}  // namespace npu::ir
