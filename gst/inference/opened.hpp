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

/// A device and the model that runs on it; exists from NULL->READY on. Const functions are
/// thread-safe; the others belong to the streaming thread, and to state changes while there is
/// none.
class Opened {
 public:
  /// Throws npu::Error where the model or the device cannot be opened.
  Opened(const Settings& settings, OpenSource open_source);

  const Settings& settings() const { return settings_; }
  const std::string& model_file() const { return settings_.model; }
  const npu::Device& device() const { return model_->device; }
  const GraphSource& source() const { return *model_->source; }
  /// The instance that it shares with other elements; null without model-instance-id.
  const std::shared_ptr<ModelInstance>& instance() const { return instance_; }
  GstAllocator* allocator() const { return allocator_.get(); }
  npu::ImportStats imports() const { return finder_.imports(); }
  /// The only layout that frames may have; nullopt: any.
  std::optional<npu::FrameLayout> fixed_layout() const;
  /// The outputs by their registered names, for decoders of other projects.
  const TensorGroup& tensor_group() const;
  /// Sentences that the user should read about device and model.
  std::vector<std::string> warnings() const;
  std::vector<std::string> repairs() const;
  /// Fills in the fields that do not belong to a stream.
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
