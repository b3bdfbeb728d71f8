#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include <npucore/compiler.hpp>

/// Facts of Intel's compiler library for one platform.
struct CompilerReport {
  std::string platform;
  npu::CompilerInfo info;
};

/// One for each platform that the library compiles for. Throws npu::Error if there is no library.
std::vector<CompilerReport> compiler_infos();
nlohmann::ordered_json to_json(const std::vector<CompilerReport>& compilers);
std::string to_text(const std::vector<CompilerReport>& compilers);
