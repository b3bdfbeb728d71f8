#pragma once

#include <cstddef>
#include <span>
#include <utility>

#include "mapping.hpp"

namespace npu::base {

/// A page-aligned copy of some bytes, with zeros to the end of its last page.
class PageBuffer {
 public:
  /// Throws Error(kOutOfMemory).
  static PageBuffer copy_of(std::span<const std::byte> bytes);

  PageBuffer() = default;

  std::span<const std::byte> bytes() const { return mapping_.bytes(); }

 private:
  explicit PageBuffer(Mapping mapping) : mapping_(std::move(mapping)) {}
  Mapping mapping_;
};

}  // namespace npu::base
