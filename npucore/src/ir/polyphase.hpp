#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <npucore/frame.hpp>

#include "ir/graph/graph_builder.hpp"

#include "color.hpp"
#include "frame_planes.hpp"
#include "placement.hpp"

namespace npu::ir {

/// The inputs of one result of linear scaling: input `first`, and with `share` the next one.
struct Tap {
  std::int64_t first = 0;
  double share = 0;
};

/// `inputs` samples of an axis make `results` results, again and again: 27 of 1080 rows make 16 of
/// 640.
struct Period {
  std::int64_t inputs = 1, results = 1;

  static Period of(std::int64_t inputs, std::int64_t results);
  /// Half-pixel centres. `first` may lie one before the period, and the next input behind it.
  Tap tap(std::int64_t result) const;
  bool looks_outside() const { return inputs < results; }
};

/// Scales a frame and converts its colours by polyphase filters: each row of a period of results
/// has its own weights for the one or two rows of each plane that it looks at. The bytes side by
/// side in a row are the convolution's channels, and a group of neighbouring results its outputs,
/// so that no value has to be moved around. NPUs run this on their matrix units, but Interpolate,
/// which has the same results, on slower processors.
struct Polyphase {
  struct View {
    PlaneView view;
    std::int64_t column_bytes = 1;
    Period columns;
  };
  struct Plane {
    std::size_t index = 0;
    std::string name;
    Period rows, columns;
    std::int64_t sample_bytes = 1;
    std::vector<View> views = {};   ///< those that the model's channels need
    std::int64_t group_bytes = 0;   ///< of a row: the source of a group of results
    std::int64_t kernel_width = 1;  ///< source groups that it looks at
  };
  std::int64_t width = 0, height = 0;
  std::vector<Plane> planes;
  std::int64_t phases = 1;  ///< rows of results, each with its own weights
  std::int64_t group = 1;   ///< neighbouring results of a row
};

/// Empty if periods are too long, or chroma samples lie across the picture's edges.
std::optional<Polyphase> plan_polyphase(const FrameLayout& frame, const Placement& place,
                                        const ColorMap& map);

/// The picture, f32, NCHW, of the placement's size without borders; limited to 0..`white` if the
/// map is limited.
Value build_polyphase(GraphBuilder& builder, FramePlanes& planes, const Polyphase& polyphase,
                      const ColorMap& map, double white);

}  // namespace npu::ir
