#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <string>

#include <npucore/device.hpp>

#include "graph_source.hpp"
#include "settings.hpp"
#include "timed_request.hpp"
#include "turns.hpp"

namespace gstnpu {

using OpenSource = std::unique_ptr<GraphSource> (*)(const npu::Device&, const Settings&);

/// A model on a device. Its graphs serve every element that runs it.
struct OpenModel {
  /// Throws npu::Error where model or device cannot be opened.
  OpenModel(const Settings& settings, OpenSource open_source);

  const Settings settings;
  const npu::Device device;
  const std::unique_ptr<GraphSource> source;
};

/// Shared by this process's elements with the same model-instance-id and device: each model is
/// opened and compiled once, and streams take turns. Thread-safe.
class ModelInstance {
 public:
  /// Finds or makes the instance of the settings' id; it lives while somebody holds it. Null
  /// without an id.
  static std::shared_ptr<ModelInstance> find(const Settings& settings);

  /// Opens the model, or finds it open. Throws npu::Error where it is open with other settings.
  std::shared_ptr<const OpenModel> open(const Settings& settings, OpenSource open_source);

  const std::shared_ptr<Turns>& turns() const { return turns_; }
  const std::shared_ptr<Backlog>& backlog() const { return backlog_; }

 private:
  const std::shared_ptr<Turns> turns_ = std::make_shared<Turns>();
  const std::shared_ptr<Backlog> backlog_ = std::make_shared<Backlog>();
  std::mutex mutex_;  // guards models_; held while a model is opened
  std::map<std::string, std::weak_ptr<const OpenModel>> models_;  // by file
};

}  // namespace gstnpu
