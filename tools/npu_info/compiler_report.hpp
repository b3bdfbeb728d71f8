#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include <npucore/compiler.hpp>

/// What Intel's compiler library says of itself for one platform.
struct CompilerReport {
  std::string platform;
  npu::CompilerInfo info;
};

/// For each platform that it compiles for. Throws npu::Error where there is no library.
std::vector<CompilerReport> compiler_infos();
nlohmann::ordered_json to_json(const std::vector<CompilerReport>& compilers);
std::string to_text(const std::vector<CompilerReport>& compilers);
