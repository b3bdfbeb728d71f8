// Loops and conditions, written by OpenVINO.
#include <gtest/gtest.h>

#include <openvino/opsets/opset16.hpp>
#include <openvino/pass/serialize.hpp>

#include <npucore/error.hpp>
#include <npucore/model.hpp>

#include "support/expect.hpp"
#include "support/temp_dir.hpp"

namespace npu {
namespace {

using namespace ov::opset16;

/// Four rows, each of which the body gets alone.
Model loop_of(const test::TempDir& dir, const std::shared_ptr<Parameter>& row,
              const ov::Output<ov::Node>& result) {
  const auto out = std::make_shared<Result>(result);
  const auto loop = std::make_shared<TensorIterator>();
  loop->set_body(std::make_shared<ov::Model>(ov::ResultVector{out}, ov::ParameterVector{row}));
  const auto rows = std::make_shared<Parameter>(ov::element::f32, ov::Shape{4, 8});
  loop->set_sliced_input(row, rows, 0, 1, 1, -1, 0);
  const auto model = std::make_shared<ov::Model>(
      ov::OutputVector{loop->get_concatenated_slices(out, 0, 1, 1, -1, 0)},
      ov::ParameterVector{rows});
  const auto xml = dir.path() / "model.xml";
  ov::pass::Serialize(xml.string(), (dir.path() / "model.bin").string()).run_on_model(model);
  return Model::read(xml);
}

std::shared_ptr<Parameter> one_row() {
  return std::make_shared<Parameter>(ov::element::f32, ov::Shape{1, 8});
}

TEST(Bodies, WithSizesThatAriseAtRunTimeAreRefused) {
  const test::TempDir dir;
  const auto row = one_row();
  const auto places = std::make_shared<NonZero>(row);
  places->set_friendly_name("places");
  const auto axis = Constant::create(ov::element::i64, {1}, {1});
  const auto sum = std::make_shared<ReduceSum>(places, axis, true);
  const Model model = loop_of(dir, row, sum);
  try {
    model.check_supported();
    FAIL() << "taken";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::kUnsupported);
    EXPECT_TRUE(has(error.what(), "layer 'places' (NonZero"));
    EXPECT_TRUE(has(error.what(), "inside layer"));
    EXPECT_TRUE(has(error.what(), "(TensorIterator"));
  }
}

TEST(Bodies, WithKnownSizesAreTaken) {
  const test::TempDir dir;
  const auto row = one_row();
  EXPECT_NO_THROW(loop_of(dir, row, std::make_shared<Relu>(row)).check_supported());
}

}  // namespace
}  // namespace npu
