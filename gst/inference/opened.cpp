#include "opened.hpp"

#include <npucore/error.hpp>

#include "frames/allocator.hpp"

namespace gstnpu {
namespace {

npu::Device open_device(const Settings& settings) {
  if (settings.model.empty()) {
    throw npu::Error(npu::ErrorCode::kNotFound,
                     "no model is set: set the property \"model\" to its file");
  }
  return npu::Device::open(npu::device_kind_from_string(settings.device));
}

}  // namespace

Opened::Opened(const Settings& settings, OpenSource open_source)
    : settings_(settings),
      device_(open_device(settings)),
      source_(open_source(device_, settings)),
      finder_(device_),
      outputs_(std::make_shared<TensorRecycler>(device_, npu::MemoryUse::kOutput)),
      copies_(std::make_shared<TensorRecycler>(device_, npu::MemoryUse::kInput)),
      allocator_(make_allocator(device_)) {}

std::vector<std::string> Opened::warnings() const {
  std::vector<std::string> warnings;
  for (const std::string& warning : source_->warnings()) {
    warnings.push_back(settings_.model + ": " + warning);
  }
  return warnings;
}

void Opened::describe(StatsReport& report) const {
  report.device = device_.info().name;
  report.offered_memory = npu::to_string(device_.shareable_memory());
  report.compile_ns = source_->compile_ns();
}

}  // namespace gstnpu
