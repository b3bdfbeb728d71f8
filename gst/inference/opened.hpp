#pragma once

#include <gst/gst.h>

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <npucore/device.hpp>

#include "common/refs.hpp"
#include "frames/plane_memory.hpp"
#include "frames/tensor_recycler.hpp"
#include "graphs/model_instance.hpp"
#include "graphs/settings.hpp"

#include "stats.hpp"

namespace gstnpu {

/// What exists from NULL->READY on: a device, and the model that runs on it. What is const may be
/// called from any thread, the rest by the streaming thread, and by a state change once there is
/// none.
class Opened {
 public:
  /// Throws npu::Error where the model or the device cannot be opened.
  Opened(const Settings& settings, OpenSource open_source);

  const Settings& settings() const { return settings_; }
  const std::string& model_file() const { return settings_.model; }
  const npu::Device& device() const { return model_->device; }
  const GraphSource& source() const { return *model_->source; }
  /// What it shares with other elements; null where it shares nothing.
  const std::shared_ptr<ModelInstance>& instance() const { return instance_; }
  GstAllocator* allocator() const { return allocator_.get(); }
  npu::ImportStats imports() const { return finder_.imports(); }
  /// The one layout that frames must have; nullopt: any.
  std::optional<npu::FrameLayout> fixed_layout() const;
  /// What elements downstream that are not npucore's may decode.
  const TensorGroup& tensor_group() const;
  /// What the user should know about device and model, one sentence each.
  std::vector<std::string> warnings() const;
  std::vector<std::string> repairs() const;
  /// Fills in what does not belong to a stream.
  void describe(StatsReport& report) const;

  GraphSource& source() { return *model_->source; }
  PlaneFinder& finder() { return finder_; }
  TensorRecycler& outputs() { return *outputs_; }
  TensorRecycler& copies() { return *copies_; }

 private:
  std::vector<std::string> of_model(std::vector<std::string> sentences) const;
  const Settings settings_;
  const std::shared_ptr<ModelInstance> instance_;
  const std::shared_ptr<const OpenModel> model_;
  PlaneFinder finder_;
  const std::shared_ptr<TensorRecycler> outputs_, copies_;
  const ObjectRef<GstAllocator> allocator_;
};

}  // namespace gstnpu
