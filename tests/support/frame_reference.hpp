#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include <npucore/frame.hpp>

namespace npu::test {

using Bytes = std::vector<unsigned char>;

/// A frame as a producer leaves it in memory.
struct Frame {
  FrameLayout layout;
  std::vector<Bytes> planes;
};

/// Random samples in the visible part, 0xEE in every byte around it. The low 6 bits of P010 are 0.
Frame noise_frame(const FrameLayout& layout, unsigned seed);

/// Computes what the model should see from the definitions in double precision, sharing nothing
/// with the code under test: pixel (0,0) covers [0,1) in both directions, samples are interpolated
/// linearly between their centres and repeated beyond the edges, chroma samples are centred between
/// the four luma samples that they belong to.
class Reference {
 public:
  Reference(const Frame& frame, const Preprocess& preprocess, int model_width, int model_height,
            int channels);

  /// Channel `channel` at a model pixel, in the model's numbers.
  double at(int channel, int x, int y) const;
  /// The same before mean and scale, in grey levels.
  double gray_level_at(int channel, int x, int y) const;
  double scale_of(int channel) const;

 private:
  enum Component { kY, kCb, kCr, kRed, kGreen, kBlue };
  /// Position of a component's samples: every `step` bytes from byte `first` of its plane's rows.
  struct Grid {
    std::size_t plane = 0, first = 0, step = 1;
    int pixels_x = 1, pixels_y = 1;
    int bits = 8;
  };
  static Grid grid_of(PixelFormat format, Component component);
  double code(const Grid& grid, int column, int row) const;
  double sample(Component component, double x, double y) const;
  double analog_luma(double x, double y) const;
  double analog_chroma(Component component, double x, double y) const;
  std::array<double, 3> rgb_at(double x, double y) const;
  double luma_at(double x, double y) const;

  const Frame& frame_;
  const Preprocess& preprocess_;
  int channels_;
  double content_width_, content_height_, left_, top_;
};

}  // namespace npu::test
