#include "model_instance.hpp"

#include <utility>

#include <npucore/error.hpp>

namespace gstnpu {
namespace {

// One inference runs and one waits, so that the device never idles. More would only take turns from
// streams that come later.
constexpr guint kBusyDevice = 2;

npu::Device open_device(const Settings& settings) {
  if (settings.model.empty()) {
    throw npu::Error(npu::ErrorCode::kNotFound,
                     "no model is set: set the property \"model\" to its file");
  }
  return npu::Device::open(settings.device);
}

void check_same(const Settings& open, const Settings& wanted) {
  if (open.runs_like(wanted)) return;
  throw npu::Error(npu::ErrorCode::kInvalidArgument,
                   "model-instance-id=" + wanted.model_instance_id + " has " + wanted.model +
                       " open already, with another " + open.first_difference(wanted) +
                       ": give all elements with that id the same, or this one another id");
}

}  // namespace

OpenModel::OpenModel(const Settings& of, OpenSource open_source)
    : settings(of), device(open_device(of)), source(open_source(device, of)) {}

std::shared_ptr<ModelInstance> ModelInstance::find(const Settings& settings) {
  if (settings.model_instance_id.empty()) return nullptr;
  static std::mutex mutex;  // guards instances
  static std::map<std::pair<std::string, std::string>, std::weak_ptr<ModelInstance>> instances;
  const std::scoped_lock lock(mutex);
  std::erase_if(instances, [](const auto& instance) { return instance.second.expired(); });
  std::weak_ptr<ModelInstance>& known = instances[{settings.model_instance_id, settings.device}];
  std::shared_ptr<ModelInstance> instance = known.lock();
  if (!instance) {
    instance = std::make_shared<ModelInstance>();
    known = instance;
  }
  instance->turns_->allow(settings.nireq == 0 ? kBusyDevice : settings.nireq);
  return instance;
}

std::shared_ptr<const OpenModel> ModelInstance::open(const Settings& settings,
                                                     OpenSource open_source) {
  const std::scoped_lock lock(mutex_);
  std::erase_if(models_, [](const auto& model) { return model.second.expired(); });
  if (const auto found = models_.find(settings.model); found != models_.end()) {
    if (std::shared_ptr<const OpenModel> open = found->second.lock()) {
      check_same(open->settings, settings);
      return open;
    }
  }
  auto open = std::make_shared<const OpenModel>(settings, open_source);
  models_[settings.model] = open;
  return open;
}

}  // namespace gstnpu
