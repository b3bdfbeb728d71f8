// Tensors on a buffer, as decoders look at them.
#pragma once

#include <gst/gst.h>

#include <string>
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

/// A tensor, and the meta of its inference; null where there is none.
struct InferredTensor {
  GstNpuTensor tensor;
  GstNpuInferenceMeta* meta;
  GstNpuInferenceMeta* lost;  ///< where an element dropped the meta: as it was made, else null
};

/// Copies a meta's text, which may be null.
std::string text_or_empty(const gchar* text);

/// The meta of the first inference of a whole frame; null where there is none.
GstNpuInferenceMeta* meta_of_frame(GstBuffer* buffer);

/// The meta for tensors that other elements attached without an inference's id: the first one of a
/// whole frame that has no tensors; null where there is none.
GstNpuInferenceMeta* meta_of_others(GstBuffer* buffer);

/// All tensors of a buffer. A tensor of an inference that never had a meta goes with
/// meta_of_others(). One whose meta was dropped goes with none: another inference's meta would
/// misplace it.
std::vector<InferredTensor> tensors_of(GstBuffer* buffer);

}  // namespace gstnpu
