#include "plane_memory.hpp"

#include <gst/allocators/gstdmabuf.h>

#include <array>
#include <cstring>
#include <mutex>

#include <npucore/error.hpp>

#include "common/gtype.hpp"
#include "common/log.hpp"

#include "allocator.hpp"
#include "plane_mapping.hpp"

namespace gstnpu {

/// Data kept with an imported GstMemory; `buffer` is empty where the import was refused.
struct RememberedImport {
  npu::KeptImport buffer;
  std::string refusal;
};

namespace {

/// Called with the lock that guards all of them held.
RememberedImport& remembered(GstMemory* memory, GQuark key, npu::Importer& importer) {
  GstMiniObject* root = GST_MINI_OBJECT_CAST(root_of(memory));
  auto* known = static_cast<RememberedImport*>(gst_mini_object_get_qdata(root, key));
  if (known) return *known;
  RememberedImport made;
  try {
    made.buffer = importer.keep(gst_dmabuf_memory_get_fd(memory));
  } catch (const npu::Error& error) {
    made.refusal = error.what();
  }
  known = hand_over(std::move(made));
  gst_mini_object_set_qdata(root, key, known, end_of<RememberedImport>);
  return *known;
}

/// Bytes from plane `index`'s start to where a PlaneSpan is copied.
gsize crop_offset(const npu::FrameLayout& layout, std::size_t index) {
  const auto shapes = shapes_of(layout.format);
  const npu::PlaneShape& shape = shapes[index];
  const guint top = layout.crop_top - layout.crop_top % shapes.back().pixels_y;
  return gsize{top / shape.pixels_y} * layout.planes[index].stride_bytes +
         gsize{layout.crop_left / shape.pixels_x} * shape.sample_bytes;
}

void copy_plane(const PlaneSpan& span, GstBuffer* buffer, std::byte* to, gsize to_stride) {
  const PlaneMapping mapping(span, buffer);
  for (gsize row = 0; row < span.rows; ++row) {
    std::memcpy(to + row * to_stride,
                mapping.first_row() + static_cast<gssize>(row) * span.stride_bytes, span.row_bytes);
  }
}

}  // namespace

PlaneFinder::PlaneFinder(npu::Device device) : device_(std::move(device)), importer_(device_) {
  // A tensor belongs to one context. Devices that share a context share its info.
  const std::string key =
      "gst-npu-import-" + std::to_string(reinterpret_cast<guintptr>(&device_.info()));
  import_key_ = g_quark_from_string(key.c_str());
}

FoundPlanes PlaneFinder::find(const FrameDescription& frame, GstBuffer* buffer) {
  FoundPlanes found;
  bool is_found = frame.is_readable_in_place;
  if (!is_found) {
    found.cause = CopyCause::kStride;
  }
  for (std::size_t p = 0; is_found && p < frame.planes.size(); ++p) {
    is_found = find_plane(frame.planes[p], buffer, found);
  }
  if (is_found && found.path == InputPath::kImported) {
    is_found = import_planes(found);
  }
  if (is_found) return found;
  found.planes.clear();
  found.path = InputPath::kCopied;
  return found;
}

/// Adds the plane, without a tensor if it lies in somebody else's DMA-BUF.
bool PlaneFinder::find_plane(const PlaneSpan& span, GstBuffer* buffer, FoundPlanes& found) {
  guint index = 0, length = 0;
  gsize skip = 0;
  if (!gst_buffer_find_memory(buffer, span.offset, span.span_bytes(), &index, &length, &skip)) {
    found.cause = CopyCause::kShortMemory;
    return false;
  }
  if (length != 1) {
    found.cause = CopyCause::kSplitPlane;
    return false;
  }
  GstMemory* memory = gst_buffer_peek_memory(buffer, index);
  npu::Tensor tensor = npu_memory_tensor(memory, device_);
  if (!tensor && !gst_is_dmabuf_memory(memory)) {
    found.cause = is_npu_memory(memory) ? CopyCause::kOtherDevice : CopyCause::kOrdinaryMemory;
    return false;
  }
  if (!tensor) {
    found.path = InputPath::kImported;
  } else if (found.path == InputPath::kCopied) {
    found.path = InputPath::kOffered;
  }
  found.planes.push_back({std::move(tensor), memory->offset + skip, memory});
  return true;
}

/// Imports all planes of a frame in one call.
bool PlaneFinder::import_planes(FoundPlanes& found) {
  // Two elements on one device may get the same memory. Without the lock the second import would
  // replace, and free, the one that the first element reads.
  static std::mutex remember_mutex;
  const std::scoped_lock lock(remember_mutex);
  OfPlanes<RememberedImport*> known;  // of the planes without a tensor
  OfPlanes<const npu::KeptImport*> buffers;
  for (const PlaneMemory& plane : found.planes) {
    if (plane.whole) continue;
    known.push_back(&remembered(plane.memory, import_key_, importer_));
    buffers.push_back(&known.back()->buffer);
    if (!known.back()->buffer && !import_alone(*known.back(), found)) return false;
  }
  std::array<npu::Tensor, GST_VIDEO_MAX_PLANES> tensors;
  try {
    importer_.import(buffers, tensors);
  } catch (const npu::Error&) {
    for (std::size_t i = 0; i < known.size(); ++i) {  // finds the plane that failed, and why
      tensors[i] = import_alone(*known[i], found);
      if (!tensors[i]) return false;
    }
  }
  auto next = tensors.begin();
  for (PlaneMemory& plane : found.planes) {
    if (!plane.whole) {
      plane.whole = std::move(*next++);
    }
  }
  return true;
}

npu::Tensor PlaneFinder::import_alone(RememberedImport& known, FoundPlanes& found) {
  found.cause = CopyCause::kImportRefused;
  if (known.buffer) {
    try {
      npu::Tensor tensor = known.buffer.tensor();
      found.cause = CopyCause::kNone;
      return tensor;
    } catch (const npu::Error& error) {
      // Memory that does not fit even when nothing else is imported never will.
      const bool has_company = importer_.stats().live > 0;
      const bool is_full = error.code() == npu::ErrorCode::kOutOfMemory;
      if (is_full && has_company) {
        found.cause = CopyCause::kImportWindow;
      }
      found.detail = error.what();
      if (is_full ? has_company : error.code() != npu::ErrorCode::kUnsupported) return {};
      known.refusal = error.what();
      known.buffer = {};
    }
  }
  GST_CAT_INFO(gstnpu_debug, "DMA-BUF not imported: %s", known.refusal.c_str());
  found.detail = known.refusal;
  return {};
}

bool has_geometry(const npu::FrameLayout& layout, const npu::FrameLayout& frame) {
  if (layout.format != frame.format || layout.width != frame.width ||
      layout.height != frame.height || layout.crop_left != frame.crop_left ||
      layout.crop_top != frame.crop_top || layout.planes.size() != frame.planes.size()) {
    return false;
  }
  for (std::size_t p = 0; p < layout.planes.size(); ++p) {
    if (layout.planes[p].stride_bytes != frame.planes[p].stride_bytes) return false;
  }
  return true;
}

DeviceMemoryRef copy_frame(const FrameDescription& frame, GstBuffer* buffer,
                           const npu::FrameLayout& layout, TensorRecycler& recycler) {
  std::size_t total = 0;
  for (std::size_t p = 0; p < layout.planes.size(); ++p) total += layout.plane_size_bytes(p);
  DeviceMemoryRef copy = recycler.take(total);
  std::byte* plane = copy->data;
  for (std::size_t p = 0; p < layout.planes.size(); ++p) {
    copy_plane(frame.planes[p], buffer, plane + crop_offset(layout, p),
               layout.planes[p].stride_bytes);
    plane += layout.plane_size_bytes(p);
  }
  return copy;
}

}  // namespace gstnpu
