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

/// Where a result of linear scaling looks: at input `first`, and with `share` at the next one.
struct Tap {
  std::int64_t first = 0;
  double share = 0;
};

/// `inputs` samples of an axis have `results` results, again and again: 27 rows of 1080 have 16 of
/// 640.
struct Period {
  std::int64_t inputs = 1, results = 1;

  static Period of(std::int64_t inputs, std::int64_t results);
  /// Half-pixel centres. `first` may lie one before the period, and the next one behind it.
  Tap tap(std::int64_t result) const;
  bool looks_outside() const { return inputs < results; }
};

/// How a frame is scaled, and its colours converted, by polyphase filters: each row of a period of
/// results has weights of its own, for the one or two rows of each plane that it looks at. What
/// lies side by side in a row of bytes are the channels of the convolution, and a group of
/// neighbouring results its outputs, so that no value is moved around it. NPUs run that on their
/// matrix units, but Interpolate, which has the same results, on slower processors.
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
    std::int64_t group_bytes = 0;   ///< of a row: what a group of results has come from
    std::int64_t kernel_width = 1;  ///< such groups that it looks at
  };
  std::int64_t width = 0, height = 0;
  std::vector<Plane> planes;
  std::int64_t phases = 1;  ///< rows of results, each with its own weights
  std::int64_t group = 1;   ///< neighbouring results of a row
};

/// Empty where periods are too long, or chroma samples lie across the picture's edges.
std::optional<Polyphase> plan_polyphase(const FrameLayout& frame, const Placement& place,
                                        const ColorMap& map);

/// f32, NCHW, of the placement's size without borders; limited to 0..`white` if the map is limited.
Value build_polyphase(GraphBuilder& builder, FramePlanes& planes, const Polyphase& polyphase,
                      const ColorMap& map, double white);

}  // namespace npu::ir
