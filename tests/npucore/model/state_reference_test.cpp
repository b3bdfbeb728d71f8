// A model with a state gives the same as OpenVINO's CPU plugin, step by step.
#include <gtest/gtest.h>

#include <array>
#include <cstring>
#include <openvino/openvino.hpp>

#include <npucore/npucore.hpp>

#include "support.hpp"

namespace npu::test {
namespace {

using Values = std::array<float, 4>;

class StateReference : public OnSoftwareNpu {
 protected:
  void SetUp() override {
    OnSoftwareNpu::SetUp();
    const auto xml = write_sum_model(folder_.path());
    ours_ = std::make_unique<Request>(
        CompiledModel::compile(device_, Model::read(xml)).create_request());
    theirs_ =
        core_.compile_model(xml.string(), "CPU", ov::hint::inference_precision(ov::element::f32))
            .create_infer_request();
  }
  void TearDown() override {
    ours_.reset();
    theirs_ = {};  // it keeps the weights file open
    OnSoftwareNpu::TearDown();
  }
  void step(const Values& input) {
    std::memcpy(ours_->input(0).data(), input.data(), sizeof(input));
    ours_->infer();
    std::memcpy(theirs_.get_input_tensor().data<float>(), input.data(), sizeof(input));
    theirs_.infer();
  }
  void expect_equal(const char* when) {
    const auto* outputs = reinterpret_cast<const float*>(ours_->output(0).data());
    const auto* state = reinterpret_cast<const float*>(ours_->states()[0].get().data());
    const ov::Tensor their_state = theirs_.query_state()[0].get_state();
    for (std::size_t i = 0; i < 4; ++i) {
      EXPECT_EQ(outputs[i], theirs_.get_output_tensor().data<float>()[i]) << when;
      EXPECT_EQ(state[i], their_state.data<float>()[i]) << when;
    }
  }
  TempDir folder_;
  ov::Core core_;
  std::unique_ptr<Request> ours_;
  ov::InferRequest theirs_;
};

TEST_F(StateReference, IsMetOverManySteps) {
  for (int count = 0; count < 10; ++count) {
    const auto value = static_cast<float>(count) * 0.37f;
    step({value, -value, value * 2, 1});
    expect_equal("while it goes on");
  }
}

TEST_F(StateReference, IsMetAfterResetAndSet) {
  step({1, 2, 3, 4});
  ours_->states()[0].reset();
  theirs_.query_state()[0].reset();
  step({1, 2, 3, 4});
  expect_equal("after a reset");
  Values own = {5, 6, 7, 8};
  ours_->states()[0].set(std::as_bytes(std::span(own)));
  theirs_.query_state()[0].set_state(ov::Tensor(ov::element::f32, {1, 4}, own.data()));
  step({1, 1, 1, 1});
  expect_equal("after a value was set");
}

}  // namespace
}  // namespace npu::test
