// Intel's compiler as the tests here ask it: NPUCORE_COMPILER_LIBRARY is the library.
#pragma once

#include <string>

#include <npucore/model.hpp>
#include <npucore/properties.hpp>

#include "compile/library_client.hpp"

namespace npu::test {

constexpr const char* kPlatforms[] = {"3720", "4000", "5010"};

/// Whether every graph and network is to be tried, or a sample: NPU_COMPILER_GRAPHS=all.
bool all_wanted();

/// The library's compiler for a platform, which serves all tests of the process.
internal::LibraryClient& library_for(const std::string& platform);

internal::LibraryResult compile(const std::string& platform, const Model& model,
                                Serializer serializer = Serializer::kAuto,
                                internal::CompilerConfig config = {});

/// The compiler's objection to the model; empty where it takes it.
std::string refusal_of(const std::string& platform, const Model& model,
                       internal::CompilerConfig config = {});

}  // namespace npu::test
