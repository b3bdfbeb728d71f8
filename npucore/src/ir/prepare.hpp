#pragma once

#include <pugixml.hpp>
#include <string>

#include "ir/graph/model_impl.hpp"

#include "compiler_version.hpp"

namespace npu::ir {

/// A model's text as one compiler takes it, with the weights and the constants added for that.
struct PreparedModel {
  pugi::xml_document xml;
  Weights weights;
};

/// Bounded dimensions of inputs become their bounds. Interpolate-11 becomes Interpolate-4 for
/// compilers whose newest opset is below 11, compilers up to 7.26 get no Identity, and auto_pad of
/// filters of single elements becomes explicit; also in bodies of loops and conditions. The values
/// stay the same.
PreparedModel prepare(const Model::Impl& model, CompilerVersion version);

/// Whether prepare() removes Identity layers for this compiler.
bool drops_identity(CompilerVersion version);

std::string to_text(const pugi::xml_document& xml);

}  // namespace npu::ir
