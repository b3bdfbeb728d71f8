// The tensor that both sides of the decoder benchmarks read: [1, 4 + classes, boxes] of f32.
#pragma once

#include <cstddef>
#include <fstream>
#include <stdexcept>
#include <string>
#include <vector>

inline std::vector<float> read_yolo_tensor(const std::string& file, std::size_t classes,
                                           std::size_t boxes) {
  std::vector<float> values((4 + classes) * boxes);
  std::ifstream stream(file, std::ios::binary);
  const auto size = static_cast<std::streamsize>(values.size() * sizeof(float));
  if (!stream.read(reinterpret_cast<char*>(values.data()), size)) {
    throw std::runtime_error("cannot read " + file);
  }
  return values;
}
