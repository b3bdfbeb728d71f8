#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include <npucore/types.hpp>

/// A value is equal to the reference's up to absolute + relative * |reference|.
struct Tolerance {
  double absolute = 1e-3, relative = 1e-2;
};

/// The difference of a tensor from the reference's, over all frames.
struct Difference {
  std::size_t values = 0, beyond = 0;  ///< compared values; those outside the tolerance
  double largest = 0, mean = 0;        ///< absolute; infinite if only one side is not finite
  double cosine = 1;                   ///< of the values that are finite on both sides
  std::size_t frame = 0, index = 0;    ///< place of the largest
  double tested = 0, reference = 0;    ///< the values there

  bool is_within_tolerance() const { return beyond == 0; }
};

/// Adds up the frames of one tensor.
class DifferenceMeter {
 public:
  explicit DifferenceMeter(Tolerance tolerance) : tolerance_(tolerance) {}
  /// The next frame; both have as many values.
  void add(std::span<const double> tested, std::span<const double> reference);
  Difference result() const;

 private:
  void add(std::size_t index, double tested, double reference);

  Tolerance tolerance_;
  Difference found_;
  std::size_t frames_ = 0;
  double sum_ = 0;
  double product_ = 0, tested_square_ = 0, reference_square_ = 0;
};

/// A tensor's elements as numbers. Throws npu::Error for a type that has none.
std::vector<double> values_of(const npu::Port& port, std::span<const std::byte> bytes);
