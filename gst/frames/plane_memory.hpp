// From a buffer's planes to memory that the NPU reads.
#pragma once

#include <gst/gst.h>

#include <memory>
#include <npucore/importer.hpp>
#include <npucore/tensor.hpp>
#include <string>
#include <vector>

#include "plugin/copy_cause.hpp"
#include "plugin/frame_description.hpp"
#include "plugin/tensor_recycler.hpp"

namespace gstnpu {

/// A plane inside a tensor.
struct PlaneMemory {
  npu::Tensor whole;
  gsize offset_bytes = 0;  ///< of the plane's first visible row
};

struct FoundPlanes {
  std::vector<PlaneMemory> planes;  ///< empty when the frame must be copied
  InputPath path = InputPath::kCopied;
  CopyCause cause = CopyCause::kNone;
  std::string detail;  ///< the driver's words, where it refused
};

/// Finds the tensors behind a buffer. A DMA-BUF is imported when it is first seen, and known by its
/// GstMemory from then on.
class PlaneFinder {
 public:
  explicit PlaneFinder(npu::Device device);

  FoundPlanes find(const FrameDescription& frame, GstBuffer* buffer);
  /// What the device has imported and let go since the last begin_count().
  npu::ImportStats imports() const;
  void begin_count() { counted_ = importer_.stats(); }

 private:
  PlaneMemory find_plane(const PlaneSpan& span, GstBuffer* buffer, FoundPlanes& found);
  npu::Tensor import(GstMemory* memory, FoundPlanes& found);

  npu::Device device_;
  npu::Importer importer_;
  GQuark import_key_;
  npu::ImportStats counted_;
};

/// The planes as the graph of `layout` reads them; empty when one ends outside its memory.
std::vector<npu::Tensor> slice_planes(const FoundPlanes& found, const npu::FrameLayout& layout);

/// Whether a graph for `layout` reads a frame of `frame`'s geometry in place. Colours are no
/// matter: the graph decides them.
bool has_geometry(const npu::FrameLayout& layout, const npu::FrameLayout& frame);

struct CopiedFrame {
  std::shared_ptr<const npu::Tensor> memory;
  std::vector<npu::Tensor> planes;
};

/// The one function that copies a frame: its visible pixels, into memory of the NPU in `layout`.
/// Throws npu::Error when the buffer is shorter than its metadata say.
CopiedFrame copy_frame(const FrameDescription& frame, GstBuffer* buffer,
                       const npu::FrameLayout& layout, TensorRecycler& recycler);

}  // namespace gstnpu
