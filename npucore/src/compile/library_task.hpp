#pragma once

#include <string>

#include <npucore/compiled_model.hpp>

#include "properties/compiler_options.hpp"

#include "library_client.hpp"

namespace npu::internal {

/// "model 'x' (x.xml)"
std::string model_title(const Model& model);

/// When a helper process that starts to compile now must be done.
HelperLink::Deadline compile_deadline(const Properties& properties);

/// Whether the weights go by their address: tells it in `stats` and in `config`.
bool choose_weightless(const Model& model, const Compiler& compiler, const Properties& properties,
                       CompilerConfig& config, LoadStats& stats);

/// The library's compiler; `library` must outlive it.
Compiler compiler_of(LibraryClient& library);

/// What a compiler library is to do with a model.
LibraryTask library_task(const Model& model, const Compiler& compiler, const Properties& properties,
                         CompilerConfig config, LoadStats& stats);

}  // namespace npu::internal
