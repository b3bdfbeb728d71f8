#include "sampler.hpp"

#include <ctime>

#include <npucore/error.hpp>

namespace {

std::uint64_t monotonic_ns() {
  timespec now{};
  ::clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<std::uint64_t>(now.tv_sec) * 1'000'000'000 +
         static_cast<std::uint64_t>(now.tv_nsec);
}

/// Without a loader, a driver or permission there is only the kernel to ask.
std::optional<npu::Device> open_npu() {
  try {
    npu::Device device = npu::Device::open(npu::DeviceKind::kNpu);
    device.utilization();  // the first call begins the time
    return device;
  } catch (const npu::Error&) {
    return std::nullopt;
  }
}

}  // namespace

Sampler::Sampler(std::filesystem::path root) : root_(std::move(root)) {
  if (root_.empty()) {
    root_ = "/";
    npu_ = open_npu();
  }
}

Sample Sampler::take() {
  Sample sample;
  sample.at_ns = monotonic_ns();
  sample.devices = find_devices(root_);
  sample.processes = find_processes(root_, sample.at_ns);
  if (!npu_) return sample;
  try {
    sample.sysman[npu_->info().pci_address] = npu_->utilization();
  } catch (const npu::Error&) {
    npu_.reset();  // from now on asks the kernel
  }
  return sample;
}
