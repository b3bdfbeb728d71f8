// CenterFace: faces as points of a heat map of a quarter of the input's size, with the size of each
// box, its centre's place in the cell, and five key points.
// https://github.com/Star-Clouds/CenterFace/blob/master/prj-python/centerface.py
#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <string>
#include <string_view>

#include "../boxes.hpp"
#include "../families.hpp"
#include "../values.hpp"

namespace npu::vision {
namespace {

constexpr std::size_t kStride = 4;  // model pixels
constexpr std::size_t kKeyPoints = 5;

/// Indices of outputs; models without key points have no `points`.
struct Parts {
  std::size_t heat = 0, sizes = 0, offsets = 0;
  std::optional<std::size_t> points;
};

bool has(std::string_view name, const char* part) {
  return name.find(part) != std::string_view::npos;
}

/// Outputs with so many channels, in the model's order.
std::vector<std::size_t> with_channels(const Found& found, std::size_t channels) {
  std::vector<std::size_t> fitting;
  const std::size_t rows = found.input.height / kStride, columns = found.input.width / kStride;
  if (rows == 0 || columns == 0) return fitting;
  for (std::size_t i = 0; i < found.outputs.size(); ++i) {
    const TensorView& output = found.outputs[i];
    if (is_float(output) && has_shape(output, {1, channels, rows, columns})) {
      fitting.push_back(i);
    }
  }
  return fitting;
}

// Sizes come before offsets, unless their names tell otherwise.
std::optional<Parts> parts_of(const Found& found) {
  const auto heat = with_channels(found, 1), pairs = with_channels(found, 2),
             points = with_channels(found, 2 * kKeyPoints);
  const bool may_lack_points = found.card.family == Family::kCenterFace;
  if (heat.size() != 1 || pairs.size() != 2 || points.size() > 1) return std::nullopt;
  if (points.empty() && !may_lack_points) return std::nullopt;
  if (heat.size() + pairs.size() + points.size() != found.outputs.size()) return std::nullopt;
  Parts parts{heat[0], pairs[0], pairs[1],
              points.empty() ? std::nullopt : std::optional(points[0])};
  if (has(found.outputs[parts.sizes].name, "offset") ||
      has(found.outputs[parts.offsets].name, "scale")) {
    std::swap(parts.sizes, parts.offsets);
  }
  return parts;
}

std::string refusal(const Found& found) {
  const auto parts = parts_of(found);
  if (!parts) return kOtherTensors;
  const std::size_t points = parts->points ? kKeyPoints : 0, wanted = found.card.key_points;
  if (wanted == 0 || wanted == points) return "";
  return "has " + std::to_string(points) + " key points, not " + std::to_string(wanted);
}

class CenterFaceDecoder : public Decoder {
 public:
  explicit CenterFaceDecoder(const Found& found)
      : parts_(parts_of(found).value()),
        made_for_(found.outputs.begin(), found.outputs.end()),
        input_(found.input),
        columns_(made_for_[parts_.heat].dims[3]),
        cells_(made_for_[parts_.heat].dims[2] * columns_) {}

  Family family() const override { return Family::kCenterFace; }
  std::vector<std::string> usual_labels() const override { return {"face"}; }
  void decode(std::span<const TensorView> outputs, const npu::FrameGeometry& geometry,
              FrameSize frame, const DecodeOptions& options, Answer* answer) override;

 private:
  void read(std::span<const TensorView> outputs, std::size_t part, std::vector<float>* to) const {
    read_all(checked_output(outputs, part, made_for_[part]), to);
  }
  Edges place(std::size_t cell) const;
  void add(std::size_t cell);
  void give_points(std::size_t cell, const npu::FrameGeometry& geometry, FrameSize frame,
                   Answer* answer) const;
  double value(const std::vector<float>& values, std::size_t channel, std::size_t cell) const {
    return values[channel * cells_ + cell];
  }
  /// Down, across.
  double size(std::size_t axis, std::size_t cell) const {
    return std::exp(value(sizes_, axis, cell)) * kStride;
  }

  Parts parts_;
  std::vector<TensorView> made_for_;
  InputSize input_;
  std::size_t columns_, cells_;
  std::vector<float> heat_, sizes_, offsets_, points_;
  Boxes boxes_;
};

void CenterFaceDecoder::decode(std::span<const TensorView> outputs,
                               const npu::FrameGeometry& geometry, FrameSize frame,
                               const DecodeOptions& options, Answer* answer) {
  answer->clear();
  read(outputs, parts_.heat, &heat_);
  read(outputs, parts_.sizes, &sizes_);
  read(outputs, parts_.offsets, &offsets_);
  if (parts_.points) {
    read(outputs, *parts_.points, &points_);
  }
  boxes_.begin(geometry, frame);
  for (std::size_t cell = 0; cell < cells_; ++cell) {
    if (heat_[cell] >= options.confidence_threshold && std::isfinite(heat_[cell])) {
      add(cell);
    }
  }
  boxes_.choose(options, true);
  boxes_.give(answer);
  if (!parts_.points) return;
  answer->key_points_per_object = kKeyPoints;
  for (const Candidate* kept : boxes_.kept()) give_points(kept->index, geometry, frame, answer);
}

void CenterFaceDecoder::add(std::size_t cell) {
  if (!std::isfinite(size(0, cell)) || !std::isfinite(size(1, cell))) return;
  for (std::size_t i = 0; parts_.points && i < 2 * kKeyPoints; ++i) {
    if (!std::isfinite(value(points_, i, cell))) return;
  }
  boxes_.add(place(cell), probability(heat_[cell]), 0, cell);
}

/// A box that would begin outside the picture is moved inside, as the authors do. Channels are
/// down, then across.
Edges CenterFaceDecoder::place(std::size_t cell) const {
  const double width = input_.width, height = input_.height;
  const auto middle = [&](std::size_t axis, std::size_t place) {
    return (static_cast<double>(place) + value(offsets_, axis, cell) + 0.5) * kStride;
  };
  const double left = middle(1, cell % columns_) - size(1, cell) / 2;
  const double top = middle(0, cell / columns_) - size(0, cell) / 2;
  const double inner_left = std::min(std::max(left, 0.0), width);
  const double inner_top = std::min(std::max(top, 0.0), height);
  if (!std::isfinite(left + top)) return {left, top, left, top};
  return {inner_left, inner_top, std::min(inner_left + size(1, cell), width),
          std::min(inner_top + size(0, cell), height)};
}

/// Key points are shares of the box, from its corner.
void CenterFaceDecoder::give_points(std::size_t cell, const npu::FrameGeometry& geometry,
                                    FrameSize frame, Answer* answer) const {
  const Edges box = place(cell);
  for (std::size_t point = 0; point < kKeyPoints; ++point) {
    const double x = box[0] + value(points_, 2 * point + 1, cell) * size(1, cell);
    const double y = box[1] + value(points_, 2 * point, cell) * size(0, cell);
    answer->key_points.push_back({frame_x(x, geometry, frame), frame_y(y, geometry, frame), 1});
  }
}

std::unique_ptr<Decoder> make(const Found& found) {
  return std::make_unique<CenterFaceDecoder>(found);
}

constexpr std::array kTasks{Task::kDetect, Task::kPose};

}  // namespace

const Contract kCenterFaceContract{
    Family::kCenterFace, kTasks,
    "heat map [1, 1, height / 4, width / 4], sizes and offsets [1, 2, ...], and key points "
    "[1, 10, ...]",
    refusal, make};

}  // namespace npu::vision
