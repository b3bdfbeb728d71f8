#pragma once

#include <gst/gst.h>

#include <memory>

#include "graphs/graph_source.hpp"

#include "fifo.hpp"

namespace gstnpu {

/// Waits for `compilation`, and tells on the element's bus when it begins, once a second what it is
/// at, and how it ends. Throws what the compilation threw, and Error(kCancelled) as soon as `fifo`
/// stops; the compilation then goes on.
std::shared_ptr<Graph> wait_and_tell(Compilation& compilation, const Fifo& fifo,
                                     GstElement* element);

}  // namespace gstnpu
