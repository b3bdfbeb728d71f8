#pragma once

#include <optional>
#include <string>
#include <vector>

#include <npucore/npucore.hpp>

#include "arguments.hpp"
#include "difference.hpp"
#include "load.hpp"

/// A layer whose values differ from the reference's.
struct LayerDifference {
  npu::Layer layer;
  npu::Port output;  ///< the first of its outputs that differs
  Difference difference;
};

/// The result of comparing one layer after the other.
struct LayerSearch {
  std::size_t common = 0;    ///< layers that both models have, by name
  std::size_t compared = 0;  ///< of these, up to the first that differs
  std::vector<std::string> only_tested, only_reference;
  std::vector<std::string>
      not_compared;                      ///< that the compiler does not give out, or of other sizes
  std::optional<LayerDifference> first;  ///< nothing if none differs
};

/// Compiles both IRs with some of their layers as outputs, compares these, then the next ones,
/// until one differs: all layers that feed it were compared before. Throws npu::Error.
LayerSearch find_first_difference(const Arguments& arguments, const Devices& devices,
                                  std::size_t frames);
