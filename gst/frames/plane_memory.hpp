// Finds or makes NPU memory for a buffer's planes.
#pragma once

#include <gst/gst.h>

#include <memory>
#include <string>
#include <vector>

#include <npucore/importer.hpp>
#include <npucore/tensor.hpp>

#include "copy_cause.hpp"
#include "frame_description.hpp"
#include "tensor_recycler.hpp"

namespace gstnpu {

/// A plane inside a tensor.
struct PlaneMemory {
  npu::Tensor whole;
  gsize offset_bytes = 0;       ///< start of the plane's first visible row
  GstMemory* memory = nullptr;  ///< holds the plane; borrowed from the buffer
};

struct FoundPlanes {
  OfPlanes<PlaneMemory> planes;  ///< empty when the frame must be copied
  InputPath path = InputPath::kCopied;
  CopyCause cause = CopyCause::kNone;
  std::string detail;  ///< the driver's words, where it refused
};

struct RememberedImport;

/// Finds the tensors behind a buffer. Imports a DMA-BUF once and keeps the import with its
/// GstMemory.
class PlaneFinder {
 public:
  explicit PlaneFinder(npu::Device device);

  FoundPlanes find(const FrameDescription& frame, GstBuffer* buffer);
  /// All imports and evictions of the device so far. Thread-safe.
  npu::ImportStats imports() const { return importer_.stats(); }

 private:
  bool find_plane(const PlaneSpan& span, GstBuffer* buffer, FoundPlanes& found);
  bool import_planes(FoundPlanes& found);
  npu::Tensor import_alone(RememberedImport& known, FoundPlanes& found);

  npu::Device device_;
  npu::Importer importer_;
  GQuark import_key_;
};

/// Whether a graph for `layout` reads a frame of `frame`'s geometry in place. Colours do not
/// matter: they are the graph's.
bool has_geometry(const npu::FrameLayout& layout, const npu::FrameLayout& frame);

/// Copies a frame's visible pixels into NPU memory with `layout`, plane after plane; nothing else
/// copies whole frames. Throws npu::Error when the buffer is shorter than its metadata say.
DeviceMemoryRef copy_frame(const FrameDescription& frame, GstBuffer* buffer,
                           const npu::FrameLayout& layout, TensorRecycler& recycler);

}  // namespace gstnpu
