// Tensors on a buffer, as decoders look at them.
#pragma once

#include <gst/gst.h>

#include <vector>

#include <npuvision/tensor_view.hpp>

#include "meta/npumeta.h"

namespace gstnpu {

/// Describes the tensor without its data, which is there only while the memory is mapped.
npu::vision::TensorView view_of(const GstNpuTensor& tensor);

/// A tensor's memory, mapped for reading for as long as it lives. Throws npu::Error.
class TensorMapping {
 public:
  explicit TensorMapping(const GstNpuTensor& tensor);
  ~TensorMapping() { gst_memory_unmap(memory_, &info_); }
  TensorMapping(const TensorMapping&) = delete;
  TensorMapping& operator=(const TensorMapping&) = delete;

  /// The tensor with its data.
  const npu::vision::TensorView& view() const { return view_; }

 private:
  GstMemory* memory_;
  GstMapInfo info_{};
  npu::vision::TensorView view_;
};

/// The outputs of one inference.
struct InferenceOutputs {
  GstNpuInferenceMeta* meta;  ///< may be null
  std::vector<GstNpuTensor> tensors;
  GstNpuInferenceMeta* lost = nullptr;  ///< as it was made, where its meta was dropped since

  const GstNpuInferenceMeta* known() const { return meta ? meta : lost; }
  bool is_of_region() const { return known() && known()->is_region; }
  bool is_decoded() const { return known() && known()->is_decoded; }
};

/// All inferences that a buffer has tensors of. Tensors that other elements attached without an
/// inference's id go with the first meta of a whole frame that has no tensors. Those whose meta was
/// dropped go with none: another inference's meta would misplace them.
std::vector<InferenceOutputs> inferences_of(GstBuffer* buffer);

}  // namespace gstnpu
