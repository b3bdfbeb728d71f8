// Drivers that lack what newer ones have: SOFTNPU_PLATFORM=3720 imports no host memory, and the
// queue extension is made to look like 1.0, which cannot run one inference after the other.
#include <gtest/gtest.h>
#include <sys/mman.h>

#include <algorithm>
#include <vector>

#include <npucore/npucore.hpp>

#include "base/pimpl.hpp"
#include "model/compiled_model_impl.hpp"

#include "support.hpp"

namespace npu::test {
namespace {

constexpr std::size_t kBytes = kAffineElements * sizeof(float);

float* floats(const Tensor& tensor) {
  return reinterpret_cast<float*>(tensor.data());
}

class OldDriver : public OnSoftwareNpu {
 protected:
  CompiledModel model(const std::string& properties = {}) {
    CompileOptions options;
    options.properties = Properties::parse(properties);
    return CompiledModel::compile(device_, Model::read(write_affine_model(folder_.path())),
                                  options);
  }
  TempDir folder_;
};

TEST_F(OldDriver, CopiesHostMemory) {
  void* pages = ::mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(pages, MAP_FAILED);
  {
    Request request = model().create_request();
    request.set_input(0, HostMemory(pages, kBytes));
    for (const float value : {1.f, 2.f}) {
      std::fill_n(static_cast<float*>(pages), kAffineElements, value);
      request.infer();
      EXPECT_EQ(floats(request.output(0))[0], affine(value));
    }
    EXPECT_EQ(request.copies(), 2u);
    expect_error(ErrorCode::kUnsupported, "cannot import host memory", [&] {
      Tensor::import_host(device_, {pages, kBytes}, MemoryUse::kInput);
    });
  }
  ::munmap(pages, 4096);
}

TEST_F(OldDriver, CopiesFilesAndCountsThat) {
  const Importer importer(device_);
  const auto before = importer.stats().copies;
  const std::vector<float> values(kAffineElements + 1, 3.f);
  const auto file = folder_.path() / "values.raw";
  write_file(file, {reinterpret_cast<const char*>(values.data()), values.size() * sizeof(float)});
  Request request = model().create_request();
  request.set_input(0, Tensor::from_file(device_, file, sizeof(float), kBytes));
  request.infer();
  EXPECT_EQ(floats(request.output(0))[0], affine(3));
  EXPECT_EQ(importer.stats().copies, before + 1);
}

TEST_F(OldDriver, WantsFourRequestsForThroughputAndOneForLatency) {
  EXPECT_EQ(model("PERFORMANCE_HINT=THROUGHPUT").optimal_number_of_requests(), 4u);
  EXPECT_EQ(model("PERFORMANCE_HINT=LATENCY").optimal_number_of_requests(), 1u);
}

/// The driver's description of itself is read when the device is opened.
class OldQueues : public OldDriver {
 protected:
  void SetUp() override {
    OldDriver::SetUp();
    set_version(ze_npu_version(1, 0));
  }
  void TearDown() override {
    set_version(ze_npu_version(1, 1));
    OldDriver::TearDown();
  }
  void set_version(std::uint32_t version) const {
    auto& context = const_cast<ze::DeviceContext&>(*internal::Pimpl::of(device_)->context());
    context.npu.extensions[ZE_COMMAND_QUEUE_NPU_EXT_NAME] = version;
  }
};

TEST_F(OldQueues, RunInferencesOneAfterTheOtherByEvents) {
  const CompiledModel shared = model("NPU_RUN_INFERENCES_SEQUENTIALLY=YES");
  EXPECT_TRUE(internal::Pimpl::of(shared)->session()->queue.is_chained());
  std::vector<Request> requests;
  for (int count = 0; count < 3; ++count) requests.push_back(shared.create_request());
  requests.push_back(shared.create_request(4));
  for (int round = 0; round < 40; ++round) {  // more than there are events
    for (std::size_t index = 0; index < requests.size(); ++index) {
      const auto value = static_cast<float>(round * 4) + static_cast<float>(index);
      std::fill_n(floats(requests[index].input(0)), kAffineElements * requests[index].batch(),
                  value);
      requests[index].submit();
    }
    for (std::size_t index = requests.size(); index-- > 0;) {
      ASSERT_TRUE(requests[index].wait());
      const auto value = static_cast<float>(round * 4) + static_cast<float>(index);
      EXPECT_EQ(floats(requests[index].output(0))[0], affine(value));
    }
  }
}

TEST_F(OldQueues, TakeABatchOnlyOnceTheChainHasEventsForIt) {
  const CompiledModel shared = model("NPU_RUN_INFERENCES_SEQUENTIALLY=YES");
  constexpr std::uint32_t kBatch = 60;
  Request first = shared.create_request(kBatch), second = shared.create_request(kBatch);
  for (int round = 0; round < 10; ++round) {
    first.submit();
    second.submit();
    ASSERT_TRUE(first.wait(std::chrono::seconds(30)));
    ASSERT_TRUE(second.wait(std::chrono::seconds(30)));
  }
}

}  // namespace
}  // namespace npu::test
