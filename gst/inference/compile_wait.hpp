#pragma once

#include <gst/gst.h>

#include <chrono>
#include <memory>
#include <string>

#include "graphs/graph_source.hpp"

#include "fifo.hpp"

namespace gstnpu {

/// How often whoever waits for a compilation looks whether it was stopped.
constexpr std::chrono::milliseconds kLook{20};

/// Reports a compilation on the element's bus: its beginning, its progress once a second and its
/// end. The compilation itself goes on when this object is destroyed.
class ToldCompilation {
 public:
  ToldCompilation(std::shared_ptr<Compilation> compilation, GstElement* element);
  ~ToldCompilation();
  ToldCompilation(const ToldCompilation&) = delete;
  ToldCompilation& operator=(const ToldCompilation&) = delete;

  /// Whether the graph, or the error, is for frames of `layout`.
  bool serves(const npu::FrameLayout& layout) const { return compilation_->serves(layout); }
  /// The graph; null when `timeout` passed first. Throws what the compilation threw.
  std::shared_ptr<Graph> get(std::chrono::milliseconds timeout);
  /// Waits; throws Error(kCancelled) as soon as `fifo` stops.
  std::shared_ptr<Graph> get_unless_stopped(const Fifo& fifo);

 private:
  void tell_progress();
  void tell_end(GstProgressType how, const std::string& text);

  const std::shared_ptr<Compilation> compilation_;
  GstElement* const element_;
  std::chrono::seconds told_{0};
  bool told_end_ = false;
};

}  // namespace gstnpu
