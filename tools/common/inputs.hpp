#pragma once

#include <cstddef>
#include <filesystem>
#include <map>
#include <span>
#include <string>
#include <vector>

#include <npucore/types.hpp>

/// The source of each input's bytes: a file, or random values if none was given.
class InputSource {
 public:
  /// `specs`: NAME=FILE, or FILE alone for a model with one input. Throws npu::Error for an unknown
  /// name, and for a file that holds neither exactly the tensor's bytes nor an array of NumPy
  /// (.npy) of its type and shape. An input named more than once takes its files in turn.
  InputSource(const std::vector<npu::Port>& ports, const std::vector<std::string>& specs,
              unsigned seed);

  /// The most files that one input has; 0 if all are random.
  std::size_t frames() const { return frames_; }

  /// Writes input `index` of a frame into `bytes`. Random floating-point values are in [0,1),
  /// random bytes are any, wider integers are 0 or 1, since they are often indices.
  void fill(std::size_t index, std::span<std::byte> bytes, std::size_t frame = 0) const;

 private:
  const std::vector<npu::Port>& ports_;
  std::map<std::size_t, std::vector<std::filesystem::path>> files_;
  std::size_t frames_ = 0;
  unsigned seed_;
};
