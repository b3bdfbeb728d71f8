// From a buffer's planes to memory that the NPU reads.
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
  gsize offset_bytes = 0;       ///< of the plane's first visible row
  GstMemory* memory = nullptr;  ///< that the plane is in; borrowed from the buffer
};

struct FoundPlanes {
  OfPlanes<PlaneMemory> planes;  ///< empty when the frame must be copied
  InputPath path = InputPath::kCopied;
  CopyCause cause = CopyCause::kNone;
  std::string detail;  ///< the driver's words, where it refused
};

struct RememberedImport;

/// Finds the tensors behind a buffer. A DMA-BUF is imported when it is first seen, and known by its
/// GstMemory from then on.
class PlaneFinder {
 public:
  explicit PlaneFinder(npu::Device device);

  FoundPlanes find(const FrameDescription& frame, GstBuffer* buffer);
  /// What the device has imported and let go, ever. From any thread.
  npu::ImportStats imports() const { return importer_.stats(); }

 private:
  bool find_plane(const PlaneSpan& span, GstBuffer* buffer, FoundPlanes& found);
  bool import_planes(FoundPlanes& found);
  npu::Tensor import_alone(RememberedImport& known, FoundPlanes& found);

  npu::Device device_;
  npu::Importer importer_;
  GQuark import_key_;
};

/// Whether a graph for `layout` reads a frame of `frame`'s geometry in place. Colours are no
/// matter: the graph decides them.
bool has_geometry(const npu::FrameLayout& layout, const npu::FrameLayout& frame);

/// The one function that copies a frame: its visible pixels, into memory of the NPU in `layout`.
/// The planes follow each other. Throws npu::Error when the buffer is shorter than its metadata
/// say.
DeviceMemoryRef copy_frame(const FrameDescription& frame, GstBuffer* buffer,
                           const npu::FrameLayout& layout, TensorRecycler& recycler);

}  // namespace gstnpu
