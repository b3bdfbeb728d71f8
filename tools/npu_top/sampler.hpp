#pragma once

#include <filesystem>
#include <optional>

#include <npucore/device.hpp>

#include "usage.hpp"

/// Samples the machine, or a recorded picture of one.
class Sampler {
 public:
  /// `root` holds sys and proc; empty: this machine's, and Sysman is asked too.
  explicit Sampler(std::filesystem::path root);

  Sample take();

 private:
  std::filesystem::path root_;
  std::optional<npu::Device> npu_;  // the NPU that Sysman reports; none: it reports nothing
};
