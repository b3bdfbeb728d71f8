#include "opened.hpp"

#include <npucore/error.hpp>

#include "frames/allocator.hpp"

namespace gstnpu {
namespace {

const Settings& checked(const Settings& settings) {
  if (settings.gives_tensors && settings.region == InferenceRegion::kRoiList) {
    throw npu::Error(npu::ErrorCode::kInvalidArgument,
                     "output-format=nnstreamer gives one set of tensors for each frame, but "
                     "inference-region=roi-list has one for each object: set only one of them");
  }
  return settings;
}

std::shared_ptr<const OpenModel> open_model(ModelInstance* instance, const Settings& settings,
                                            OpenSource open_source) {
  if (instance) return instance->open(settings, open_source);
  return std::make_shared<const OpenModel>(settings, open_source);
}

}  // namespace

Opened::Opened(const Settings& settings, OpenSource open_source)
    : settings_(checked(settings)),
      instance_(ModelInstance::find(settings)),
      model_(open_model(instance_.get(), settings, open_source)),
      finder_(device()),
      outputs_(std::make_shared<TensorRecycler>(device(), npu::MemoryUse::kOutput)),
      copies_(std::make_shared<TensorRecycler>(device(), npu::MemoryUse::kInput)),
      allocator_(make_allocator(device())) {}

/// Objects are scaled to the blob's size, so frames may have any.
std::optional<npu::FrameLayout> Opened::fixed_layout() const {
  if (settings_.region == InferenceRegion::kRoiList) return std::nullopt;
  return source().fixed_layout();
}

/// Objects have no group: each has tensors of its own, which decoders would take for the frame's.
const TensorGroup& Opened::tensor_group() const {
  static const TensorGroup none;
  return settings_.region == InferenceRegion::kRoiList ? none : source().tensor_group();
}

std::vector<std::string> Opened::warnings() const {
  return of_model(source().warnings());
}

std::vector<std::string> Opened::repairs() const {
  return of_model(source().repairs());
}

std::vector<std::string> Opened::of_model(std::vector<std::string> sentences) const {
  for (std::string& sentence : sentences) sentence.insert(0, settings_.model + ": ");
  return sentences;
}

void Opened::describe(StatsReport& report) const {
  report.device = device().info().name;
  report.offered_memory = npu::to_string(device().shareable_memory());
  report.compile_ns = source().compile_ns();
}

}  // namespace gstnpu
