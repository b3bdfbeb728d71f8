#pragma once

#include <map>
#include <string>
#include <vector>

#include <npucore/types.hpp>

#include "document.hpp"

namespace npu::ir {

/// The model's inputs: its Parameter layers in the order of the file.
std::vector<Port> read_inputs(const Document& document);
/// Names of outputs made by Identity layers: as in the file, or as without the Identity.
enum class OutputNames { kAsInFile, kWithoutIdentity };

/// The model's outputs: its Result layers. A port is named after the layer that makes the value,
/// with ".<index>" behind it if that layer has several outputs.
std::vector<Port> read_outputs(const Document& document, OutputNames by = OutputNames::kAsInFile);
/// The children of rt_info/model_info; deeper ones as "parent/child".
std::map<std::string, std::string> read_model_info(const Document& document);

}  // namespace npu::ir
