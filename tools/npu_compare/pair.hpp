#pragma once

#include <span>
#include <utility>
#include <vector>

#include <npucore/npucore.hpp>

#include "difference.hpp"
#include "inputs.hpp"

/// An output of one model and its partner: the reference's of that name, or the next one that has
/// no partner by name.
struct MatchedOutput {
  std::size_t tested, reference;
};

/// The same model, or nearly so, twice, ready to run on the same frames.
class Pair {
 public:
  /// Throws npu::Error if the models' inputs are not the same.
  Pair(npu::CompiledModel tested, npu::CompiledModel reference);

  const npu::CompiledModel& tested() const { return tested_; }
  const npu::CompiledModel& reference() const { return reference_; }
  /// Throws npu::Error if the number of outputs or their sizes are not the same.
  void match_all_outputs();
  /// The matches, in the order of the tested model's outputs.
  const std::vector<MatchedOutput>& outputs() const { return outputs_; }

  /// Runs both on one frame.
  void run(const InputSource& inputs, std::size_t frame);
  /// Adds the outputs of the last run.
  void measure(MatchedOutput output, DifferenceMeter& meter);
  /// The outputs of the last run, by index.
  std::span<const std::byte> tested_output(std::size_t index);
  std::span<const std::byte> reference_output(std::size_t index);

 private:
  npu::CompiledModel tested_, reference_;
  std::vector<std::size_t> input_order_;  ///< the reference's input for each tested one
  std::vector<MatchedOutput> outputs_;
  npu::Request tested_request_, reference_request_;
};

/// Whether both have the same number of values.
bool has_same_size(const npu::Port& one, const npu::Port& other);

/// Index among `ports` of the one with this port's name, or one of its tensor names; the size of
/// `ports` if there is none.
std::size_t find_port(const std::vector<npu::Port>& ports, const npu::Port& port);
