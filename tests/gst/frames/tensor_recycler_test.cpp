#include "frames/tensor_recycler.hpp"

#include <gtest/gtest.h>

#include <thread>
#include <utility>

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

TEST_F(Recycler, MemoryComesBackWithItsLastReference) {
  DeviceMemoryRef first = recycler_->take(4096);
  const DeviceMemory* const memory = first.get();
  DeviceMemoryRef second = first;
  DeviceMemoryRef& same = second;
  second = same;
  first = DeviceMemoryRef();
  EXPECT_NE(recycler_->take(4096).get(), memory) << "the second still has it";
  DeviceMemoryRef third = std::move(second);
  EXPECT_FALSE(second);
  const gpointer released = third.release();
  EXPECT_FALSE(third);
  EXPECT_NE(recycler_->take(4096).get(), memory) << "C code still has it";
  DeviceMemoryRef::end(released);
  EXPECT_EQ(recycler_->take(4096).get(), memory);
}

// As a consumer does that keeps results when the pipeline is gone.
TEST_F(Recycler, MemoryOutlivesItsRecycler) {
  const auto before = live_driver_objects();
  DeviceMemoryRef kept = recycler_->take(4096);
  const gpointer released = recycler_->take(8192).release();
  recycler_.reset();
  kept->data[4095] = std::byte{7};
  EXPECT_EQ(kept->data[4095], std::byte{7});
  std::thread([&] { DeviceMemoryRef::end(released); }).join();
  std::thread([last = std::move(kept)] {}).join();
  EXPECT_LE(live_driver_objects(), before);
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
