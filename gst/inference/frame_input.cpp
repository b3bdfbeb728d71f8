#include "frame_input.hpp"

#include <npucore/error.hpp>

#include "frames/allocator.hpp"

namespace gstnpu {
namespace {

/// Bytes of a row in front of the first sample that the graph reads.
gsize left_bytes(const npu::FrameLayout& frame, const npu::FrameLayout& graph,
                 const npu::PlaneShape& shape) {
  return gsize{(frame.crop_left - graph.crop_left) / shape.pixels_x} * shape.sample_bytes;
}

/// The plane as the graph reads it. Has no memory when the plane would end outside.
BoundPlane bind_plane(const Graph& graph, const FrameDescription& frame, const PlaneMemory& found,
                      std::size_t index) {
  const npu::FrameLayout& layout = graph.layout();
  const npu::PlaneLayout& plane = layout.planes[index];
  BoundPlane bound{found.whole, found.offset_bytes, gsize{plane.stride_bytes} * plane.rows, {}};
  if (graph.takes_any_strides()) {
    const npu::PlaneShape& shape = shapes_of(layout.format)[index];
    const auto stride = static_cast<std::size_t>(frame.planes[index].stride_bytes);
    bound.offset_bytes += left_bytes(frame.layout, layout, shape);
    bound.size_bytes = stride * (plane.rows - 1) + plane.stride_bytes;
    // The graph's input is [1, rows, columns, bytes].
    bound.strides_bytes = {plane.rows * stride, stride, shape.sample_bytes, 1};
  }
  // A GstMemory may claim more than its DMA-BUF has.
  const std::size_t there = found.whole.size_bytes();
  const bool fits = bound.offset_bytes <= there && bound.size_bytes <= there - bound.offset_bytes;
  return fits ? bound : BoundPlane{};
}

/// Whether the graph can read frames of this geometry in place: it was compiled for their strides,
/// or for any. Colours do not matter: they are the graph's.
bool reads_in_place(const Graph& graph, const npu::FrameLayout& frame) {
  return graph.takes_any_strides() ? shows_the_same(graph.layout(), frame)
                                   : has_geometry(graph.layout(), frame);
}

/// Returns no planes when one would end outside its memory.
BoundPlanes bind_in_place(const Graph& graph, const FrameDescription& frame,
                          const FoundPlanes& found) {
  BoundPlanes bound;
  for (std::size_t p = 0; p < found.planes.size(); ++p) {
    bound.planes.push_back(bind_plane(graph, frame, found.planes[p], p));
    if (!bound.planes.back().memory) return {};
  }
  const PlaneMemory& first = found.planes.front();
  bound.key = {root_of(first.memory), first.offset_bytes};
  bound.path = found.path;
  return bound;
}

/// The frames could be read in place if the blob had been compiled for them.
[[noreturn]] void refuse_layout(const Opened& opened, const npu::FrameLayout& graph,
                                const npu::FrameLayout& frame) {
  throw npu::Error(npu::ErrorCode::kIncompatible,
                   "the blob was compiled for " + graph.describe() +
                       ", but the frames are in memory as " + frame.describe() +
                       "; compile it again: " + opened.source().command_for(frame) +
                       " (or let each frame be copied: convert=allow)");
}

/// The copy holds its planes one after the other.
BoundPlanes bind_copy(DeviceMemoryRef copy, const npu::FrameLayout& layout) {
  BoundPlanes bound;
  bound.copy = std::move(copy);
  bound.key = {bound.copy.get(), 0};
  gsize offset = 0;
  for (std::size_t p = 0; p < layout.planes.size(); ++p) {
    bound.planes.push_back({bound.copy->tensor, offset, layout.plane_size_bytes(p), {}});
    offset += layout.plane_size_bytes(p);
  }
  return bound;
}

}  // namespace

void check_reads(Opened& opened, const npu::FrameLayout& layout) {
  const std::shared_ptr<const Graph> graph = opened.source().find(layout);
  if (!graph || opened.settings().converts_layout || reads_in_place(*graph, layout)) return;
  refuse_layout(opened, graph->layout(), layout);
}

gsize visible_bytes(const FrameDescription& frame) {
  gsize bytes = 0;
  for (const PlaneSpan& plane : frame.planes) bytes += plane.rows * plane.row_bytes;
  return bytes;
}

BoundPlanes copy_region(const RegionReader& reader, const RegionPlace& place, RegionTarget target,
                        const Graph& graph, TensorRecycler& recycler) {
  target.layout = graph.layout();  // the graph knows the strides
  BoundPlanes bound = bind_copy(reader.copy(place, target, recycler), target.layout);
  bound.geometry = geometry_of(place, graph.geometry());
  return bound;
}

FrameInput::FrameInput(Opened& opened, const GstVideoInfo& info, GstBuffer* buffer,
                       FrameDescription& frame)
    : opened_(opened), info_(info), buffer_(buffer), frame_(frame) {
  describe_frame(info, buffer, frame);
}

std::optional<BoundPlanes> FrameInput::bind(const Graph& graph) {
  if (!reads_in_place(graph, frame_.layout)) {
    check_size(graph.layout());
    if (!opened_.settings().converts_layout) {
      refuse_layout(opened_, graph.layout(), frame_.layout);
    }
    found_.cause = CopyCause::kBlobLayout;
    return std::nullopt;
  }
  BoundPlanes bound = bind_in_place(graph, frame_, found_);
  if (!bound.planes.empty()) return bound;
  found_.cause = CopyCause::kShortMemory;
  return std::nullopt;
}

BoundPlanes FrameInput::copy(const Graph& graph) {
  check_size(graph.layout());
  return bind_copy(copy_frame(frame_, buffer_, graph.layout(), opened_.copies()), graph.layout());
}

BoundPlanes FrameInput::scale(RegionTarget target, CopyCause cause, const Graph& graph) {
  const RegionReader reader(info_, frame_, buffer_);
  const npu::FrameLayout& frame = frame_.layout;
  const RegionPlace place = place_region({0, 0, frame.width, frame.height}, frame, target);
  found_.cause = cause;
  found_.detail.clear();
  return copy_region(reader, place, std::move(target), graph, opened_.copies());
}

/// A blob's graph takes one size, but each buffer may have a crop of its own.
void FrameInput::check_size(const npu::FrameLayout& graph) const {
  const npu::FrameLayout& frame = frame_.layout;
  const npu::FrameLayout own = without_padding(graph), wanted = without_padding(frame);
  if (own.format == wanted.format && own.width == wanted.width && own.height == wanted.height &&
      own.crop_left == wanted.crop_left && own.crop_top == wanted.crop_top) {
    return;
  }
  throw npu::Error(
      npu::ErrorCode::kUnsupported,
      "the model was compiled for " + graph.describe() + ", but a buffer is cropped to " +
          std::to_string(frame.width) + "x" + std::to_string(frame.height) +
          (frame.crop_left % 2 + frame.crop_top % 2 > 0 ? " from an odd pixel on" : "") +
          "; put videocrop or videoconvertscale in front, or compile the blob again: " +
          opened_.source().command_for(frame));
}

}  // namespace gstnpu
