#pragma once

#include <string>
#include <vector>

#include <npucore/npucore.hpp>

#include "answers.hpp"
#include "arguments.hpp"
#include "difference.hpp"

/// One output of both.
struct OutputComparison {
  npu::Port tested, reference;
  Difference difference;
};

/// Everything that was found out.
struct Comparison {
  npu::DeviceInfo tested_device, reference_device;
  std::size_t frames = 0;
  std::vector<npu::Port> inputs;
  std::vector<OutputComparison> outputs;
  AnswerChanges answers;

  bool is_equal() const;
};

/// Runs both sides as the arguments say. Throws npu::Error.
Comparison compare(const Arguments& arguments);
