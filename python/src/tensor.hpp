#pragma once

#include <npucore/tensor.hpp>

#include "arrays.hpp"

namespace pynpu {

/// A tensor with what its bytes mean.
struct Tensor {
  npu::Tensor memory;
  npu::ElementType type = npu::ElementType::kU8;
  npu::Shape shape;
};

}  // namespace pynpu
