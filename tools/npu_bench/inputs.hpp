#pragma once

#include <cstddef>
#include <filesystem>
#include <map>
#include <span>
#include <string>
#include <vector>

#include <npucore/types.hpp>

/// Where each input's bytes come from: a file, or random where none was given.
class InputSource {
 public:
  /// `specs`: NAME=FILE, or FILE alone for a model with one input. Throws npu::Error for a name
  /// that the model does not have and for a file that does not hold exactly the tensor's bytes.
  InputSource(const std::vector<npu::Port>& ports, const std::vector<std::string>& specs,
              unsigned seed);

  /// Writes input `index` into `bytes`. Random floating-point values are in [0,1), bytes are any,
  /// wider integers are 0 or 1, since they are often indices.
  void fill(std::size_t index, std::span<std::byte> bytes) const;

 private:
  const std::vector<npu::Port>& ports_;
  std::map<std::size_t, std::filesystem::path> files_;
  unsigned seed_;
};
