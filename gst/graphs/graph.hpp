#pragma once

#include <meta/npumeta.h>

#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include <npucore/compiled_model.hpp>
#include <npucore/frame.hpp>
#include <npuvision/tensor_group.hpp>

#include "timed_request.hpp"

namespace gstnpu {

/// A compiled model whose inputs are the planes of one frame layout, and its idle requests. Shared
/// by the streaming thread, which takes requests, and the output task, which gives them back.
class Graph {
 public:
  /// `frame` tells how frames go in, `file` is the user's name for the model, `card` what is known
  /// about it (npu::vision::ModelCard::to_json()), `ids` by which names others know its outputs.
  /// Throws npu::Error for outputs that no buffer can carry.
  Graph(npu::CompiledModel model, npu::FrameInput frame, std::string file, const std::string& card,
        const npu::vision::TensorGroup& ids);

  const std::string& file() const { return file_; }

  const npu::FrameLayout& layout() const { return frame_.preprocess.frame; }
  const npu::Preprocess& preprocess() const { return frame_.preprocess; }
  const npu::FrameGeometry& geometry() const { return frame_.geometry; }
  /// Whether it reads planes of any strides: layout() then says only which samples it wants.
  bool takes_any_strides() const { return takes_any_strides_; }
  const npu::CompiledModel& model() const { return model_; }
  const std::string& labels() const { return labels_; }
  /// A GRefString, for the metadata of each frame.
  gchar* card() const { return card_.get(); }
  /// Input index of each plane, in plane order.
  const std::vector<std::size_t>& plane_inputs() const { return plane_inputs_; }
  /// The outputs as tensors without memory; sizes in bytes beside them.
  const std::vector<GstNpuTensor>& outputs() const { return outputs_; }
  const std::vector<std::size_t>& output_bytes() const { return output_bytes_; }

  using RequestRef = std::unique_ptr<TimedRequest>;
  /// What a frame is read from, and where the frame begins in it: the GstMemory of its first plane
  /// (the whole one, where that is a share), or the DeviceMemory of its copy. Told by its address
  /// and never looked into.
  using MemoryKey = std::pair<const void*, gsize>;
  /// An idle request, if possible the one that read the same memory last, else a new one.
  RequestRef take_request(const MemoryKey& memory);
  void give_back(RequestRef request, const MemoryKey& memory);
  /// Lets go of the memory that idle requests are still bound to.
  void drop_idle_requests();

 private:
  struct IdleRequest {
    RequestRef request;
    MemoryKey memory;
  };

  npu::CompiledModel model_;
  npu::FrameInput frame_;
  const std::string file_;
  bool takes_any_strides_ = false;
  std::string labels_;
  const std::unique_ptr<gchar, decltype(&g_ref_string_release)> card_;
  std::vector<std::size_t> plane_inputs_;
  std::vector<GstNpuTensor> outputs_;
  std::vector<std::size_t> output_bytes_;
  std::mutex mutex_;  // guards idle_
  std::vector<IdleRequest> idle_;
};

}  // namespace gstnpu
