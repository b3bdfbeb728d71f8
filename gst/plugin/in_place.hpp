// From a frame's planes to what a graph is bound to, without touching a pixel.
#pragma once

#include "plugin/graph.hpp"
#include "plugin/inference.hpp"
#include "plugin/plane_memory.hpp"

namespace gstnpu {

/// Whether the graph can read frames of this geometry where they lie: it was compiled for their
/// strides, or for any. Colours are no matter: the graph decides them.
bool reads_in_place(const Graph& graph, const npu::FrameLayout& frame);

/// The found planes as the graph reads them; without planes when one ends outside its memory.
BoundPlanes bind_in_place(const Graph& graph, const FrameDescription& frame,
                          const FoundPlanes& found);

}  // namespace gstnpu
