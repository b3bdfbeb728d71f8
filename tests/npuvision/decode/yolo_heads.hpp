// Helpers for tests of YOLO's heads: cards, tensors of rows, and one way to decode them.
#pragma once

#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <vector>

#include <npucore/error.hpp>

#include "reference.hpp"
#include "shapes.hpp"

namespace npu::vision {

struct Frame {
  npu::FrameGeometry geometry;
  FrameSize size{640, 640};
};

/// A row of values for each box; channels first it is turned.
inline TestTensor tensor_of_rows(const std::vector<std::vector<double>>& rows,
                                 bool channels_first = false, std::size_t row_padding = 0,
                                 ElementType type = ElementType::kF32) {
  const std::size_t boxes = rows.size(), values = rows.at(0).size();
  std::vector<double> flat(boxes * values);
  for (std::size_t box = 0; box < boxes; ++box) {
    for (std::size_t value = 0; value < values; ++value) {
      flat[channels_first ? value * boxes + box : box * values + value] = rows[box][value];
    }
  }
  const std::size_t second = channels_first ? values : boxes;
  return {"output0", type, {1, second, flat.size() / second}, flat, row_padding};
}

inline Answer decoded(const ModelCard& card, std::vector<TestTensor> tensors,
                      const DecodeOptions& options = {}, const Frame& frame = {},
                      InputSize input = {}) {
  std::vector<TensorView> shapes, views;
  for (const TestTensor& tensor : tensors) {
    shapes.push_back(tensor.view_without_data());
    views.push_back(tensor.view());
  }
  Answer answer;
  make_decoder(card, shapes, input)->decode(views, frame.geometry, frame.size, options, &answer);
  return answer;
}

inline Answer decoded(const ModelCard& card, TestTensor tensor, const DecodeOptions& options = {},
                      const Frame& frame = {}, InputSize input = {}) {
  std::vector<TestTensor> tensors;
  tensors.push_back(std::move(tensor));
  return decoded(card, std::move(tensors), options, frame, input);
}

inline void expect_box(const Object& object, double left, double top, double right, double bottom) {
  EXPECT_NEAR(object.left, left, 1e-3);
  EXPECT_NEAR(object.top, top, 1e-3);
  EXPECT_NEAR(object.right, right, 1e-3);
  EXPECT_NEAR(object.bottom, bottom, 1e-3);
}

inline std::string refusal_of(const std::function<void()>& call) {
  try {
    call();
  } catch (const npu::Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::kInvalidArgument);
    return error.what();
  }
  return {};
}

inline bool family_exists(const std::string& name) {
  try {
    family_from_string(name);
  } catch (const npu::Error&) {
    return false;
  }
  return true;
}

}  // namespace npu::vision
