#pragma once

#include <span>
#include <utility>
#include <vector>

#include <npucore/npucore.hpp>

#include "difference.hpp"
#include "inputs.hpp"

/// An output of one model, and what it is compared with: the reference's of that name, or where
/// there is none the next that has no partner by name.
struct MatchedOutput {
  std::size_t tested, reference;
};

/// The same model, or nearly so, twice, ready to run on the same frames.
class Pair {
 public:
  /// Throws npu::Error where the models' inputs are not the same.
  Pair(npu::CompiledModel tested, npu::CompiledModel reference);

  const npu::CompiledModel& tested() const { return tested_; }
  const npu::CompiledModel& reference() const { return reference_; }
  /// Throws npu::Error where the number of outputs or their sizes are not the same.
  void match_all_outputs();
  /// What that found, in the order of the tested model's.
  const std::vector<MatchedOutput>& outputs() const { return outputs_; }

  /// Runs both on one frame.
  void run(const InputSource& inputs, std::size_t frame);
  /// Adds what they gave.
  void measure(MatchedOutput output, DifferenceMeter& meter);
  /// What they gave, by index.
  std::span<const std::byte> tested_output(std::size_t index);
  std::span<const std::byte> reference_output(std::size_t index);

 private:
  npu::CompiledModel tested_, reference_;
  std::vector<std::size_t> input_order_;  ///< of each of the tested inputs: the reference's
  std::vector<MatchedOutput> outputs_;
  npu::Request tested_request_, reference_request_;
};

/// Whether both have as many values.
bool has_same_size(const npu::Port& one, const npu::Port& other);

/// Index among `ports` of the one with this port's name, or one of its tensor names; its size
/// where there is none.
std::size_t find_port(const std::vector<npu::Port>& ports, const npu::Port& port);
