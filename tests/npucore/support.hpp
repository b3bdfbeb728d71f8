#pragma once

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>

#include <npucore/device.hpp>

#include "support/bare/ir_writer.hpp"
#include "support/expect_error.hpp"
#include "support/software_npu.hpp"
#include "support/temp_dir.hpp"

namespace npu::test {

std::string read_file(const std::filesystem::path& path);
void write_file(const std::filesystem::path& path, std::string_view text);

/// Open descriptors of this process.
std::size_t count_open_fds();

/// A memfd of zeros; the caller closes it.
int make_memfd(std::size_t size_bytes);

/// An IR beside its weights: result = relu(input * 2 + 1), f32 [1,3,4,4]; tensor names "x" and "y".
std::filesystem::path write_affine_model(const std::filesystem::path& folder);
inline constexpr std::size_t kAffineElements = 3 * 4 * 4;
/// An IR that takes a while to compile: the same with `steps` additions of different constants.
std::filesystem::path write_long_model(const std::filesystem::path& folder, int steps);
/// Result of write_affine_model's model for `value`.
inline float affine(float value) {
  return value * 2 + 1 > 0 ? value * 2 + 1 : 0;
}

/// An IR with a state: sum = sum + input, result = the new sum, f32 [1,4]; the variable "sum"
/// begins with 10, 20, 30, 40.
std::filesystem::path write_sum_model(const std::filesystem::path& folder);

/// An opened software NPU; after each test as many descriptors and driver objects are there as
/// before it.
class OnSoftwareNpu : public ::testing::Test {
 protected:
  void SetUp() override;
  void TearDown() override;
  Device device_ = Device::open(DeviceKind::kSoftware);

 private:
  std::size_t fds_ = 0;
  std::uint32_t objects_ = 0;
};

}  // namespace npu::test
