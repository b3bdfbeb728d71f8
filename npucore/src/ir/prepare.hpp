#pragma once

#include <pugixml.hpp>
#include <string>

#include "model_impl.hpp"
#include "serialize.hpp"

namespace npu::ir {

/// A model's text as one compiler takes it, with the constants that this needed beside the model's
/// own.
struct PreparedModel {
  pugi::xml_document xml;
  Weights weights;
};

/// Bounded dimensions of inputs become their bounds. Interpolate-11 becomes Interpolate-4 for
/// compilers whose newest opset is below 11, Identity goes for those up to 7.26, and auto_pad of
/// filters of single elements becomes explicit; also in bodies of loops and conditions. The values
/// stay the same.
PreparedModel prepare(const Model::Impl& model, CompilerVersion version);

/// Whether prepare() takes Identity layers out for this compiler.
bool drops_identity(CompilerVersion version);

std::string to_text(const pugi::xml_document& xml);

}  // namespace npu::ir
