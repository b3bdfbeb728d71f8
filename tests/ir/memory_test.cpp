// Models whose text and weights lie in memory.
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include <npucore/error.hpp>
#include <npucore/model.hpp>

#include "ir/graph/model_impl.hpp"
#include "ir/serialize.hpp"

#include "ir_files.hpp"

namespace npu {
namespace {

using Bytes = std::vector<std::byte>;

const Bytes kTwo{std::byte{0}, std::byte{0}, std::byte{0}, std::byte{0x40}};
constexpr ir::CompilerVersion kCompiler{7, 3};

const std::byte* weights_of(const Model& model) {
  return ir::impl_of(model).weights.file_bytes().data();
}

TEST(InMemory, AModelIsAsFromFiles) {
  const Model model = Model::read(test::multiply_ir(), kTwo);
  const Model from_files = test::read_ir(test::multiply_ir(), std::string("\0\0\0\x40", 4));
  EXPECT_EQ(model.path(), "");
  EXPECT_EQ(model.name(), "tested");
  EXPECT_EQ(model.inputs().at(0).name, "numbers");
  EXPECT_EQ(model.outputs().at(0).tensor_names, std::vector<std::string>{"twice"});
  EXPECT_EQ(ir::content_hash(model), ir::content_hash(from_files)) << "they share cache entries";
  const auto one = ir::serialize(model, kCompiler), other = ir::serialize(from_files, kCompiler);
  EXPECT_TRUE(std::ranges::equal(one.bytes(), other.bytes()));
}

TEST(InMemory, WeightsWithoutAnOwnerAreCopied) {
  Bytes weights = kTwo;
  const Model model = Model::read(test::multiply_ir(), weights);
  const auto hash = ir::content_hash(Model(model));
  EXPECT_NE(weights_of(model), weights.data());
  EXPECT_EQ(weights_of(Model(model)), weights_of(model)) << "once";
  weights.assign(4, std::byte{1});
  EXPECT_EQ(ir::content_hash(model), hash);
  EXPECT_EQ(weights_of(model)[3], std::byte{0x40});
}

TEST(InMemory, WeightsWithAnOwnerStayInPlaceAsLongAsAModelHasThem) {
  auto owner = std::make_shared<Bytes>(kTwo);
  const std::weak_ptr<Bytes> kept = owner;
  const std::byte* place = owner->data();
  std::optional<Model> model = Model::read(test::multiply_ir(), *owner, owner);
  owner.reset();
  EXPECT_EQ(weights_of(*model), place);
  std::optional<Model> copy = *model;
  model.reset();
  EXPECT_FALSE(kept.expired());
  std::optional<ir::SerializedModel> by_address = ir::serialize_weightless(*copy, kCompiler);
  copy.reset();
  EXPECT_FALSE(kept.expired()) << "its constants are named by their addresses";
  by_address.reset();
  EXPECT_TRUE(kept.expired());
}

TEST(InMemory, AnOwnerOfWeightsThatNothingNeedsIsNotKept) {
  auto owner = std::make_shared<Bytes>(kTwo);
  const Model model = Model::read(test::identity_ir("f32", {1, 3, 4, 4}), *owner, owner);
  EXPECT_EQ(owner.use_count(), 1);
  EXPECT_EQ(model.inputs().size(), 1U);
}

struct Refusal : Named {
  std::function<void()> call;
  ErrorCode code;
  std::string said;
};
class InMemoryErrors : public testing::TestWithParam<Refusal> {};

TEST_P(InMemoryErrors, NameTheModel) {
  const std::string told = expect_error(GetParam().code, GetParam().said, GetParam().call);
  EXPECT_EQ(told.find("''"), std::string::npos) << told;
  EXPECT_EQ(told.find("the model the model"), std::string::npos) << told;
}

Model identity(const std::vector<int>& shape = {1, 3, 4, 4}) {
  return Model::read(test::identity_ir("f32", shape), Bytes());
}

INSTANTIATE_TEST_SUITE_P(
    Table, InMemoryErrors,
    testing::Values(
        Refusal{"no_xml", [] { Model::read("<net", Bytes()); }, ErrorCode::kInvalidArgument,
                "the model in memory is not a readable OpenVINO IR: XML error in line 1"},
        Refusal{"onnx", [] { Model::read(std::string("\x08\x0a\x3a\x10", 4), Bytes()); },
                ErrorCode::kInvalidArgument,
                "the model in memory is an ONNX model: make an OpenVINO IR of it (pip install "
                "openvino; ovc FILE) and give the .xml"},
        Refusal{"pytorch", [] { Model::read("PK\x03\x04 data.pkl", Bytes()); },
                ErrorCode::kInvalidArgument, "yolo export model=FILE format=openvino"},
        Refusal{"missing_weights", [] { Model::read(test::multiply_ir(), Bytes(3)); },
                ErrorCode::kInvalidArgument,
                "the weights in memory have 3 bytes, but layer 'two' (Const, id 1) of the model in "
                "memory needs "
                "4 bytes from byte 0: text and weights do not belong together"},
        Refusal{"reshape",
                [] {
                  identity().reshape({{"nothing", {1}}});
                },
                ErrorCode::kNotFound,
                "cannot reshape the model in memory: it has no input 'nothing'"},
        Refusal{"add_output", [] { identity().add_output("nothing"); }, ErrorCode::kNotFound,
                "the model in memory has no layer 'nothing'"},
        Refusal{"image_input",
                [] {
                  Preprocess preprocess;
                  preprocess.frame = FrameLayout::tight(PixelFormat::kRGB, 4, 4);
                  preprocess.input = "nothing";
                  identity().add_preprocess(preprocess);
                },
                ErrorCode::kNotFound, "the model in memory has no input 'nothing'"},
        Refusal{"picture",
                [] {
                  Preprocess preprocess;
                  preprocess.frame = FrameLayout::tight(PixelFormat::kRGB, 4, 4);
                  identity({1, 3}).add_preprocess(preprocess);
                },
                ErrorCode::kNotFound, "the model in memory has no input of rank 4"},
        Refusal{"support",
                [] {
                  identity({1, 3, 4, -1}).check_supported();
                },
                ErrorCode::kUnsupported, "an NPU cannot run the model in memory: input"},
        Refusal{
            "weightless",
            [] {
              const Model old = Model::read(test::identity_ir("f32", {1, 2}, "", "10"), Bytes());
              ir::require_weightless(old);
            },
            ErrorCode::kUnsupported, "the model in memory is an IR of version 10"}),
    by_name);

}  // namespace
}  // namespace npu
