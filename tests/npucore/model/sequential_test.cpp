// Inferences one after the other.
#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include <npucore/npucore.hpp>

#include "support.hpp"

namespace npu::test {
namespace {

class Sequential : public OnSoftwareNpu {
 protected:
  CompiledModel model() {
    CompileOptions options;
    options.properties.set(property::run_sequentially, true);
    return CompiledModel::compile(device_, Model::read(write_affine_model(folder_.path())),
                                  options);
  }
  static void submit(Request& request, float value) {
    auto* input = reinterpret_cast<float*>(request.input(0).data());
    std::fill(input, input + kAffineElements * request.batch(), value);
    request.submit();
  }
  static void expect_result(Request& request, float value) {
    ASSERT_TRUE(request.wait());
    const auto* output = reinterpret_cast<const float*>(request.output(0).data());
    EXPECT_EQ(output[0], affine(value));
    EXPECT_EQ(output[kAffineElements * request.batch() - 1], affine(value));
  }
  TempDir folder_;
};

TEST_F(Sequential, RequestsGiveTheirResults) {
  const CompiledModel shared = model();
  std::vector<Request> requests;
  for (int count = 0; count < 3; ++count) requests.push_back(shared.create_request());
  // More than there are events in a chain.
  for (int round = 0; round < 70; ++round) {
    for (std::size_t index = 0; index < requests.size(); ++index) {
      submit(requests[index], static_cast<float>(round * 3) + static_cast<float>(index));
    }
    for (std::size_t index = requests.size(); index-- > 0;) {
      expect_result(requests[index], static_cast<float>(round * 3) + static_cast<float>(index));
    }
  }
}

TEST_F(Sequential, BatchesGiveTheirResults) {
  const CompiledModel shared = model();
  Request four = shared.create_request(4);
  Request one = shared.create_request();
  for (int round = 0; round < 20; ++round) {
    submit(four, static_cast<float>(round));
    submit(one, static_cast<float>(-round));
    expect_result(four, static_cast<float>(round));
    expect_result(one, static_cast<float>(-round));
  }
}

}  // namespace
}  // namespace npu::test
