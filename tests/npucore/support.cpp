#include "support.hpp"

#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include <chrono>
#include <fstream>
#include <iterator>
#include <stdexcept>
#include <thread>

namespace npu::test {

std::string read_file(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) throw std::runtime_error("cannot read " + path.string());
  return {std::istreambuf_iterator<char>(file), {}};
}

void write_file(const std::filesystem::path& path, std::string_view text) {
  std::ofstream file(path, std::ios::binary);
  file.write(text.data(), static_cast<std::streamsize>(text.size()));
  if (!file.flush()) throw std::runtime_error("cannot write " + path.string());
}

std::size_t count_open_fds() {
  const std::filesystem::directory_iterator all("/proc/self/fd");
  return static_cast<std::size_t>(std::distance(begin(all), end(all)));
}

int make_memfd(std::size_t size_bytes) {
  const int fd = ::memfd_create("npucore-test", MFD_CLOEXEC);
  if (fd < 0 || ::ftruncate(fd, static_cast<off_t>(size_bytes)) != 0) {
    throw std::runtime_error("memfd_create failed");
  }
  return fd;
}

std::filesystem::path write_affine_model(const std::filesystem::path& folder) {
  const IrShape one_value{1, 1, 1, 1};
  IrWriter ir("affine");
  const auto x = ir.parameter("input", "f32", {1, 3, 4, 4}, "", "x");
  const auto twice =
      ir.binary("Multiply", x, ir.constant("two", std::vector{2.0F}, one_value), "twice");
  const auto plus =
      ir.binary("Add", twice, ir.constant("one", std::vector{1.0F}, one_value), "plus");
  ir.result(ir.layer("ReLU", {plus}, {.name = "positive", .tensor_names = "y"}), "result");
  return ir.write(folder, "affine");
}

std::filesystem::path write_long_model(const std::filesystem::path& folder, int steps) {
  IrWriter ir("long");
  auto last = ir.parameter("input", "f32", {1, 3, 4, 4}, "", "x");
  for (int step = 0; step < steps; ++step) {
    const auto number = ir.constant("c" + std::to_string(step),
                                    std::vector{static_cast<float>(step)}, {1, 1, 1, 1});
    // Softmax between the additions: a compiler cannot fold them into one.
    last = ir.layer("SoftMax", {ir.binary("Add", last, number)},
                    {.data = "axis=\"1\"", .opset = "opset8"});
  }
  ir.result(last, "result");
  return ir.write(folder, "long");
}

std::filesystem::path write_sum_model(const std::filesystem::path& folder) {
  IrWriter ir("sum");
  const auto x = ir.parameter("input", "f32", {1, 4}, "", "x");
  const auto begin = ir.constant("begin", std::vector<float>{10, 20, 30, 40}, {1, 4});
  const auto state = ir.read_value("sum", "f32", {1, 4}, {begin});
  const auto sum = ir.layer(
      "Add", {state, x}, {.name = "add", .data = "auto_broadcast=\"numpy\"", .tensor_names = "y"});
  ir.assign("sum", sum);
  ir.result(sum, "result");
  return ir.write(folder, "sum");
}

void OnSoftwareNpu::SetUp() {
  fds_ = count_open_fds();
  objects_ = live_driver_objects();
}

void OnSoftwareNpu::TearDown() {
  set_fault("");
  // The driver's engine lets go of a finished job shortly after it has signalled the fence, and the
  // thread of a cancelled compilation ends shortly after the cancel.
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(30);
  const auto changed = [&] {
    return live_driver_objects() != objects_ || count_open_fds() != fds_;
  };
  while (changed() && std::chrono::steady_clock::now() < deadline) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  EXPECT_EQ(live_driver_objects(), objects_) << "driver objects leaked";
  EXPECT_EQ(count_open_fds(), fds_) << "file descriptors leaked";
}

}  // namespace npu::test
