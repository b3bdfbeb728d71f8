#include "plugin/in_place.hpp"

namespace gstnpu {
namespace {

/// Bytes of a row in front of the first sample that the graph sees.
gsize left_bytes(const npu::FrameLayout& frame, const npu::FrameLayout& graph,
                 const npu::PlaneShape& shape) {
  return gsize{(frame.crop_left - graph.crop_left) / shape.pixels_x} * shape.sample_bytes;
}

/// As the graph's input [1, rows, columns, bytes] has them.
std::vector<std::size_t> strides_of(const npu::PlaneLayout& graph, std::size_t stride_bytes,
                                    std::size_t sample_bytes) {
  return {graph.rows * stride_bytes, stride_bytes, sample_bytes, 1};
}

BoundPlanes bind_with_strides(const Graph& graph, const FrameDescription& frame,
                              const FoundPlanes& found) {
  const npu::FrameLayout& layout = graph.layout();
  const auto shapes = npu::plane_shapes(layout.format);
  BoundPlanes bound;
  for (std::size_t p = 0; p < found.planes.size(); ++p) {
    const npu::PlaneLayout& plane = layout.planes[p];
    const auto stride = static_cast<std::size_t>(frame.planes[p].stride_bytes);
    const npu::Tensor& whole = found.planes[p].whole;
    const gsize begin = found.planes[p].offset_bytes + left_bytes(frame.layout, layout, shapes[p]);
    const gsize bytes = stride * (plane.rows - 1) + plane.stride_bytes;
    // A GstMemory may claim more than its DMA-BUF has.
    if (begin > whole.size_bytes() || bytes > whole.size_bytes() - begin) return {};
    bound.planes.push_back(whole.slice(begin, bytes));
    bound.strides_bytes.push_back(strides_of(plane, stride, shapes[p].sample_bytes));
  }
  bound.path = found.path;
  return bound;
}

}  // namespace

bool reads_in_place(const Graph& graph, const npu::FrameLayout& frame) {
  if (!graph.takes_any_strides()) return has_geometry(graph.layout(), frame);
  return has_geometry(graph.layout(), without_padding(frame));
}

BoundPlanes bind_in_place(const Graph& graph, const FrameDescription& frame,
                          const FoundPlanes& found) {
  if (graph.takes_any_strides()) return bind_with_strides(graph, frame, found);
  return {slice_planes(found, graph.layout()), {}, nullptr, found.path};
}

}  // namespace gstnpu
