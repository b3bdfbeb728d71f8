#pragma once

#include <memory>
#include <openvino/core/model.hpp>

namespace npu::test {

/// Gives a model's convolutions and FakeQuantize a meaning that ov::Model::evaluate() computes,
/// which knows none for them. To interpret a small model takes a fifth of the time that it takes to
/// compile.
void make_interpretable(const std::shared_ptr<ov::Model>& model);

}  // namespace npu::test
