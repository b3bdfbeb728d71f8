// Nodes of OpenVINO's opset 13.
#pragma once

#include <cstdint>
#include <memory>
#include <openvino/opsets/opset13.hpp>
#include <vector>

namespace npu::test {

using Value = ov::Output<ov::Node>;

template <class Op, class... Arguments>
Value make(const Arguments&... arguments) {
  return std::make_shared<Op>(arguments...)->output(0);
}

inline Value numbers(const std::vector<std::int64_t>& values) {
  return make<ov::opset13::Constant>(ov::element::i64, ov::Shape{values.size()}, values);
}

}  // namespace npu::test
