#pragma once

#include <filesystem>
#include <optional>

#include <npucore/device.hpp>

#include "usage.hpp"

/// Looks at the machine, or at a picture of one.
class Sampler {
 public:
  /// `root` has sys and proc; empty: this machine's, where Sysman is asked, too.
  explicit Sampler(std::filesystem::path root);

  Sample take();

 private:
  std::filesystem::path root_;
  std::optional<npu::Device> npu_;  // what Sysman tells of; none: it tells nothing
};
