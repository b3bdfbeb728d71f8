#pragma once

#include <optional>
#include <string>
#include <vector>

#include <npucore/npucore.hpp>

#include "answers.hpp"
#include "arguments.hpp"
#include "difference.hpp"
#include "layers.hpp"

/// One output of both models.
struct OutputComparison {
  npu::Port tested, reference;
  Difference difference;
};

/// The results of a comparison.
struct Comparison {
  npu::DeviceInfo tested_device, reference_device;
  std::size_t frames = 0;
  std::vector<npu::Port> inputs;
  std::vector<OutputComparison> outputs;
  AnswerChanges answers;
  std::optional<LayerSearch> layers;  ///< with --layers, if outputs differ

  bool is_equal() const;
};

/// Runs both sides as the arguments say. Throws npu::Error.
Comparison compare(const Arguments& arguments);
