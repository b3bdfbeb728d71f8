// Tensors that are part of larger ones, read as they lie.
#include <gtest/gtest.h>

#include <algorithm>

#include <npucore/npucore.hpp>

#include "support.hpp"

namespace npu::test {
namespace {

class Strides : public OnSoftwareNpu {
 protected:
  CompiledModel model() {
    CompileOptions options;
    options.properties.set(property::enable_strides_for, "x,y");
    return CompiledModel::compile(device_, Model::read(write_affine_model(folder_.path())),
                                  options);
  }
  TempDir folder_;
};

// [1,3,4,4] in the middle of planes of 6 rows of 10.
constexpr std::size_t kStrides[] = {3 * 6 * 10 * 4, 6 * 10 * 4, 10 * 4, 4};
constexpr std::size_t kBegin = (1 * 10 + 2) * 4;
constexpr std::size_t kAll = 3 * 6 * 10 * 4;

std::size_t place(std::size_t channel, std::size_t row, std::size_t column) {
  return channel * 60 + row * 10 + column;
}

TEST_F(Strides, OfAnInputSkipWhatLiesBetween) {
  Request request = model().create_request();
  const Tensor whole = Tensor::allocate(device_, kAll, MemoryUse::kInput);
  auto* all = reinterpret_cast<float*>(whole.data());
  std::fill_n(all, kAll / 4, -1000.f);
  const Tensor part = whole.slice(kBegin, kAll - kBegin);
  auto* inside = reinterpret_cast<float*>(part.data());
  for (std::size_t channel = 0; channel < 3; ++channel) {
    for (std::size_t row = 0; row < 4; ++row) {
      for (std::size_t column = 0; column < 4; ++column) {
        inside[place(channel, row, column)] = static_cast<float>(channel * 16 + row * 4 + column);
      }
    }
  }
  request.set_input(0, part, kStrides);
  request.infer();
  const auto* output = reinterpret_cast<const float*>(request.output(0).data());
  for (std::size_t index = 0; index < kAffineElements; ++index) {
    EXPECT_EQ(output[index], affine(static_cast<float>(index)));
  }
  EXPECT_EQ(request.copies(), 0u);
}

TEST_F(Strides, AreGoneWithTheNextTensor) {
  Request request = model().create_request();
  const Tensor strided = Tensor::allocate(device_, kAll, MemoryUse::kInput);
  std::fill_n(reinterpret_cast<float*>(strided.data()), kAll / 4, 1.f);
  const Tensor dense = Tensor::allocate(device_, kAffineElements * 4, MemoryUse::kInput);
  for (std::size_t index = 0; index < kAffineElements; ++index) {
    reinterpret_cast<float*>(dense.data())[index] = static_cast<float>(index);
  }
  for (int round = 0; round < 2; ++round) {
    request.set_input(0, strided, kStrides);
    request.infer();
    request.set_input(0, dense);
    request.infer();
    const auto* output = reinterpret_cast<const float*>(request.output(0).data());
    for (std::size_t index = 0; index < kAffineElements; ++index) {
      EXPECT_EQ(output[index], affine(static_cast<float>(index)));
    }
  }
}

TEST_F(Strides, OfAnOutputLeaveTheRestAlone) {
  Request request = model().create_request();
  const Tensor whole = Tensor::allocate(device_, kAll, MemoryUse::kOutput);
  auto* all = reinterpret_cast<float*>(whole.data());
  std::fill_n(all, kAll / 4, -1000.f);
  request.set_output(0, whole, kStrides);
  std::fill_n(reinterpret_cast<float*>(request.input(0).data()), kAffineElements, 5.f);
  request.infer();
  EXPECT_EQ(all[place(2, 3, 3)], affine(5));
  EXPECT_EQ(all[place(0, 0, 4)], -1000.f);
  EXPECT_EQ(all[place(1, 4, 0)], -1000.f);
}

TEST_F(Strides, ThatLetPartsOverlapAreRefused) {
  Request request = model().create_request();
  const Tensor whole = Tensor::allocate(device_, kAll, MemoryUse::kInput);
  const std::size_t rows[] = {kStrides[0], kStrides[1], 3 * 4, 4};
  const std::size_t channels[] = {kStrides[0], 3 * 10 * 4, 10 * 4, 4};
  const std::size_t odd[] = {kStrides[0], kStrides[1], 10 * 4 + 2, 4};
  for (const auto* strides : {&rows, &channels, &odd}) {
    expect_error(ErrorCode::kInvalidArgument, " bytes for dimension ",
                 [&] { request.set_input(0, whole, *strides); });
  }
}

TEST_F(Strides, NeedTheirMemory) {
  Request request = model().create_request();
  const Tensor small = Tensor::allocate(device_, 600, MemoryUse::kInput);
  expect_error(ErrorCode::kInvalidArgument, "needs 616",
               [&] { request.set_input(0, small, kStrides); });
}

// An output that is copied, because its context is gone: others may write to the gaps meanwhile.
TEST_F(Strides, OfACopiedOutputLeaveTheGapsAlone) {
  const CompiledModel compiled = model();
  Request request = compiled.create_request();
  const Tensor whole = Tensor::allocate(device_, kAll, MemoryUse::kOutput);
  const Tensor part = whole.slice(kBegin, kAll - kBegin);
  request.set_output(0, part, kStrides);
  set_fault("zeFenceHostSynchronize:DEVICE_LOST@1");
  EXPECT_THROW(request.infer(), Error);
  set_fault("");
  auto* all = reinterpret_cast<float*>(whole.data());
  std::fill_n(all, kAll / 4, -1000.f);
  auto* input = reinterpret_cast<float*>(request.input(0).data());
  std::fill_n(input, kAffineElements, 3.f);
  const std::uint64_t copies = request.copies();
  request.infer();
  EXPECT_GT(request.copies(), copies) << "nothing is shown where nothing is copied";
  const auto written = std::count(all, all + kAll / 4, affine(3.f));
  EXPECT_EQ(written, static_cast<std::ptrdiff_t>(kAffineElements));
  EXPECT_EQ(std::count(all, all + kAll / 4, -1000.f),
            static_cast<std::ptrdiff_t>(kAll / 4) - written);
  const auto* inside = reinterpret_cast<const float*>(part.data());
  EXPECT_EQ(inside[place(2, 3, 3)], affine(3.f));
}

}  // namespace
}  // namespace npu::test
