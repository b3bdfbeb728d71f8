#pragma once

#include <gtest/gtest.h>

#include <filesystem>
#include <string>

#include <npucore/npucore.hpp>

#include "support.hpp"

namespace npu::test {

/// A model and a folder for CACHE_DIR, with what the library warns of.
class Cached : public OnSoftwareNpu {
 protected:
  void SetUp() override {
    OnSoftwareNpu::SetUp();
    set_log_sink([this](LogLevel level, std::string_view message) {
      if (level <= LogLevel::kWarning) {
        warnings_ += std::string(message) + '\n';
      }
    });
  }
  void TearDown() override {
    set_log_sink({});
    OnSoftwareNpu::TearDown();
  }

  const TempDir folder_;
  const std::filesystem::path model_ = write_affine_model(folder_.path());
  std::filesystem::path cache_ = folder_.path() / "cache";
  std::string warnings_;
};

/// Whether a model compiled with these properties has the entry of one compiled without.
struct CachedRow {
  const char* name;
  const char* properties;
  bool same_entry;
};
inline constexpr CachedRow kCachedRows[] = {
    {"hint", "PERFORMANCE_HINT=LATENCY", false},
    {"tiles", "NPU_TILES=2", false},
    {"profiling", "PERF_COUNT=YES", false},
    {"priority", "MODEL_PRIORITY=HIGH", true},
    {"threads", "COMPILATION_NUM_THREADS=1", true},
    {"classic", "NPU_MODEL_SERIALIZER_VERSION=ALL_WEIGHTS_COPY", true}};

}  // namespace npu::test
