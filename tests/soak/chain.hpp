#pragma once

#include <filesystem>
#include <optional>

#include "pipeline.hpp"

namespace npu::test {

/// Runs from decoder to broker, for ever: what each element remembers of a stream is in one
/// process.
/// NPU_SHAPES_FOLDER names models/shapes.
class Chain {
 public:
  /// `folder`: for the frames of the clip, which are played again and again.
  explicit Chain(const std::filesystem::path& folder);
  /// Some frames more; then nothing moves. Throws for what went wrong.
  void play();

 private:
  std::optional<Pipeline> pipeline_;
  guint64 played_ = 0;
};

}  // namespace npu::test
