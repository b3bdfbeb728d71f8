// SimCC: key points of one object that fills the picture. Each has a value for each column and each
// row, at twice the picture's resolution.
#include <algorithm>
#include <array>
#include <cmath>

#include "boxes.hpp"
#include "families.hpp"
#include "values.hpp"

namespace npu::vision {
namespace {

constexpr std::size_t kPerPixel = 2;
// The authors sharpen the values by it before the softmax: beta 150, sigma 6.
constexpr double kSharpness = 150.0 * 6.0;
constexpr double kEpsilon = 1e-6;  // added to the softmax's denominator

struct Parts {
  int x = -1, y = -1;
};

bool is_axis(const TensorView& output, std::uint32_t pixels) {
  return is_float(output) && pixels > 0 && has_shape(output, {1, 0, kPerPixel * pixels});
}

// With a square input x comes first, unless the names tell otherwise.
Parts parts_of(const Found& found) {
  if (found.outputs.size() != 2) return {};
  const TensorView &first = found.outputs[0], &second = found.outputs[1];
  if (first.rank != 3 || second.rank != 3 || first.dims[1] != second.dims[1]) return {};
  const InputSize input = found.input;
  const bool fits = is_axis(first, input.width) && is_axis(second, input.height);
  const bool fits_turned = is_axis(first, input.height) && is_axis(second, input.width);
  const bool names_turned = first.name == "simcc_y" && second.name == "simcc_x";
  if (fits_turned && (!fits || names_turned)) return {1, 0};
  return fits ? Parts{0, 1} : Parts{};
}

std::string refusal(const Found& found) {
  if (found.input.width == 0 || found.input.height == 0) return "has an input of unknown size";
  const Parts parts = parts_of(found);
  if (parts.x < 0) return kOtherTensors;
  const std::size_t points = found.outputs[0].dims[1], wanted = found.card.key_points;
  if (wanted == 0 || wanted == points) return "";
  return "has " + std::to_string(points) + " key points, not " + std::to_string(wanted);
}

/// Highest value of a row.
struct Peak {
  std::size_t place = 0;
  float value = 0, share = 0;  ///< by the softmax
};

Peak peak_of(std::span<const float> row) {
  const auto best = std::max_element(row.begin(), row.end());
  double sum = kEpsilon;
  for (const float value : row) {
    sum += std::exp(kSharpness * (static_cast<double>(value) - *best));
  }
  return {static_cast<std::size_t>(best - row.begin()), *best, static_cast<float>(1 / sum)};
}

class SimccDecoder : public Decoder {
 public:
  explicit SimccDecoder(const Found& found) : is_raw_(found.card.raw_scores.value_or(false)) {
    const Parts parts = parts_of(found);
    x_index_ = static_cast<std::size_t>(parts.x);
    y_index_ = static_cast<std::size_t>(parts.y);
    x_made_for_ = found.outputs[x_index_];
    y_made_for_ = found.outputs[y_index_];
  }

  Family family() const override { return Family::kSimcc; }
  void decode(std::span<const TensorView> outputs, const npu::FrameGeometry& geometry,
              FrameSize frame, const DecodeOptions& options, Answer* answer) override;

 private:
  KeyPoint key_point(std::size_t point, const npu::FrameGeometry& geometry, FrameSize frame) const;

  bool is_raw_;
  std::size_t x_index_ = 0, y_index_ = 0;
  TensorView x_made_for_, y_made_for_;
  std::vector<float> x_, y_;
};

void SimccDecoder::decode(std::span<const TensorView> outputs, const npu::FrameGeometry& geometry,
                          FrameSize frame, const DecodeOptions& options, Answer* answer) {
  answer->clear();
  read_all(checked_output(outputs, x_index_, x_made_for_), &x_);
  read_all(checked_output(outputs, y_index_, y_made_for_), &y_);
  if (frame.width == 0 || frame.height == 0) return;
  if (!are_finite(x_) || !are_finite(y_)) return leave_undefined(answer);
  const std::size_t points = x_made_for_.dims[1];
  float sum = 0;
  for (std::size_t point = 0; point < points; ++point) {
    answer->key_points.push_back(key_point(point, geometry, frame));
    sum += answer->key_points.back().confidence;
  }
  const float confidence = sum / static_cast<float>(points);
  if (confidence < options.confidence_threshold || options.max_objects == 0) {
    return answer->clear();
  }
  answer->key_points_per_object = points;
  answer->objects.push_back(filling(frame, confidence));
}

KeyPoint SimccDecoder::key_point(std::size_t point, const npu::FrameGeometry& geometry,
                                 FrameSize frame) const {
  const std::size_t columns = x_made_for_.dims[2], rows = y_made_for_.dims[2];
  const Peak x = peak_of(std::span(x_).subspan(point * columns, columns));
  const Peak y = peak_of(std::span(y_).subspan(point * rows, rows));
  const double across = static_cast<double>(x.place) / kPerPixel;
  const double down = static_cast<double>(y.place) / kPerPixel;
  KeyPoint found{frame_x(across, geometry, frame), frame_y(down, geometry, frame), 0};
  // Without a positive value the model sees no point.
  if (std::min(x.value, y.value) <= 0) return found;
  found.confidence = is_raw_ ? probability(std::min(x.value, y.value)) : std::min(x.share, y.share);
  return found;
}

std::unique_ptr<Decoder> make(const Found& found) {
  return std::make_unique<SimccDecoder>(found);
}

constexpr std::array kTasks{Task::kKeyPoints, Task::kPose};

}  // namespace

const Contract kSimccContract{Family::kSimcc, kTasks,
                              "[1, points, 2 * width] and [1, points, 2 * height]", refusal, make};

}  // namespace npu::vision
