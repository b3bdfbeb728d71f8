#include "frames/tensor_recycler.hpp"

#include <gtest/gtest.h>

#include <npucore/npucore.hpp>

#include "support/software_npu.hpp"
#include "support/temp_dir.hpp"
#include "support/tiny_ir.hpp"

namespace gstnpu {
namespace {

using npu::test::live_driver_objects;

class Recycler : public testing::Test {
 protected:
  /// Takes some memory at a time and gives it back.
  void use(std::size_t count, std::size_t size_bytes) {
    std::vector<DeviceMemoryRef> taken;
    for (std::size_t i = 0; i < count; ++i) taken.push_back(recycler_->take(size_bytes));
  }

  npu::Device device_ = npu::Device::open(npu::DeviceKind::kSoftware);
  std::shared_ptr<TensorRecycler> recycler_ =
      std::make_shared<TensorRecycler>(device_, npu::MemoryUse::kInput);
};

TEST_F(Recycler, GivesTheSameMemoryAgain) {
  use(3, 5000);
  const auto before = live_driver_objects();
  use(3, 8000);  // as many pages
  EXPECT_EQ(live_driver_objects(), before);
  use(1, 9000);
  EXPECT_EQ(live_driver_objects(), before + 1);
}

// Memory of the sizes that earlier streams had would else stay until the element closes.
TEST_F(Recycler, DropsMemoryOfEverySizeAfterALoss) {
  const npu::test::TempDir dir;
  const auto model = npu::Model::read(dir.write("model.xml", npu::test::pixels_ir(8, 8)));
  auto request = npu::CompiledModel::compile(device_, model).create_request();
  request.infer();
  const auto before = live_driver_objects();
  use(3, 4096);
  use(2, 40960);
  EXPECT_EQ(live_driver_objects(), before + 5);
  npu::test::set_fault("zeFenceHostSynchronize:DEVICE_LOST@1");
  EXPECT_THROW(request.infer(), npu::Error);
  request.infer();  // in the next context
  const auto after_the_loss = live_driver_objects();
  use(1, 400);
  EXPECT_LE(live_driver_objects(), after_the_loss - 5 + 1) << npu::test::describe_live_objects();
}

}  // namespace
}  // namespace gstnpu
