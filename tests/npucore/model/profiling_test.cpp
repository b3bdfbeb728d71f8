// Measurements: layers, inferences, the device.
#include <gtest/gtest.h>

#include <algorithm>

#include <npucore/npucore.hpp>

#include "support.hpp"

namespace npu::test {
namespace {

class Profiling : public OnSoftwareNpu {
 protected:
  CompiledModel model(const std::string& properties) {
    CompileOptions options;
    options.properties = Properties::parse(properties);
    return CompiledModel::compile(device_, Model::read(write_affine_model(folder_.path())),
                                  options);
  }
  TempDir folder_;
};

TEST_F(Profiling, ListsTheLayers) {
  Request request = model("PERF_COUNT=YES").create_request();
  EXPECT_TRUE(request.profile().empty()) << "nothing has run yet";
  request.infer();
  const auto layers = request.profile();
  ASSERT_FALSE(layers.empty());
  EXPECT_TRUE(std::any_of(layers.begin(), layers.end(), [](const LayerProfile& layer) {
    return layer.status == LayerStatus::kExecuted && !layer.type.empty() && !layer.name.empty();
  }));
  for (const auto& layer : layers) {
    EXPECT_LE(layer.start_ns + layer.duration_ns, request.inference_time_ns()) << layer.name;
  }
}

TEST_F(Profiling, IsOfTheLastInference) {
  Request request = model("PERF_COUNT=YES").create_request();
  for (int count = 0; count < 3; ++count) {
    request.infer();
    EXPECT_GT(request.inference_time_ns(), 0u);
  }
}

TEST_F(Profiling, OfABatchIsOfAllItsItems) {
  const CompiledModel profiled = model("PERF_COUNT=YES");
  Request request = profiled.create_request(4);
  request.infer();
  const auto layers = request.profile();
  std::uint64_t first_item_ns = 0;
  for (const auto& layer : layers) {
    first_item_ns = std::max(first_item_ns, layer.start_ns + layer.duration_ns);
  }
  EXPECT_GT(request.inference_time_ns(), first_item_ns);
}

TEST_F(Profiling, OfInferencesOnlyNeedsNoLayers) {
  const CompiledModel timed = model("PERF_COUNT=YES NPU_PROFILING_TYPE=INFER");
  for (const std::size_t batch : {1, 3}) {
    Request request = timed.create_request(batch);
    EXPECT_EQ(request.inference_time_ns(), 0u) << "nothing has run yet";
    request.infer();
    EXPECT_GT(request.inference_time_ns(), 0u);
    expect_error(ErrorCode::kUnsupported, "NPU_PROFILING_TYPE", [&] { request.profile(); });
  }
}

TEST_F(Profiling, IsRefusedWhereItWasNotAskedFor) {
  Request request = model("").create_request();
  request.infer();
  expect_error(ErrorCode::kUnsupported, "PERF_COUNT", [&] { request.profile(); });
  expect_error(ErrorCode::kUnsupported, "PERF_COUNT", [&] { request.inference_time_ns(); });
}

TEST_F(Profiling, TellsHowBusyTheDeviceWas) {
  Request request = model("").create_request();
  device_.utilization();
  double most = 0;
  for (int count = 0; count < 1000 && most == 0; ++count) {
    request.infer();
    const double now = device_.utilization();
    EXPECT_GE(now, 0);
    EXPECT_LE(now, 1);
    most = std::max(most, now);
  }
  EXPECT_GT(most, 0);
}

}  // namespace
}  // namespace npu::test
