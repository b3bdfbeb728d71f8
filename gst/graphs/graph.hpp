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
  /// `frame` tells how frames go in. `file` is the model's file as the user wrote it. `card` is
  /// npu::vision::ModelCard::to_json(). `ids` are registered names of the outputs. Throws
  /// npu::Error for outputs that no buffer can carry.
  Graph(npu::CompiledModel model, npu::FrameInput frame, std::string file, const std::string& card,
        const npu::vision::TensorGroup& ids);

  const std::string& file() const { return file_; }

  const npu::FrameLayout& layout() const { return frame_.preprocess.frame; }
  const npu::Preprocess& preprocess() const { return frame_.preprocess; }
  const npu::FrameGeometry& geometry() const { return frame_.geometry; }
  /// Whether it reads planes of any strides; layout() then tells only which samples it wants.
  bool takes_any_strides() const { return takes_any_strides_; }
  const npu::CompiledModel& model() const { return model_; }
  const std::string& labels() const { return labels_; }
  /// A GRefString for each frame's metadata.
  gchar* card() const { return card_.get(); }
  /// Input index of each plane, in plane order.
  const std::vector<std::size_t>& plane_inputs() const { return plane_inputs_; }
  /// The outputs, without memory; output_bytes() gives their sizes.
  const std::vector<GstNpuTensor>& outputs() const { return outputs_; }
  const std::vector<std::size_t>& output_bytes() const { return output_bytes_; }

  using RequestRef = std::unique_ptr<TimedRequest>;
  /// Identifies the memory of a frame and its offset there: the GstMemory of the first plane (or
  /// the memory that this is a share of), or the DeviceMemory of a copy. Only the address is
  /// compared; it is never dereferenced.
  using MemoryKey = std::pair<const void*, gsize>;
  /// Returns an idle request, preferably the last one that read this memory, or a new one.
  RequestRef take_request(const MemoryKey& memory);
  void give_back(RequestRef request, const MemoryKey& memory);
  /// Releases the memory that idle requests are still bound to.
  void drop_idle_requests();

 private:
  void refuse_other_inputs() const;

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
