// MediaPipe's landmark models: the key points of one hand or one body that fills the picture, and
// whether there is one. https://github.com/google-ai-edge/mediapipe/tree/master/mediapipe/modules
#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <string>

#include "boxes.hpp"
#include "families.hpp"
#include "values.hpp"

namespace npu::vision {
namespace {

/// The points of a model.
struct Layout {
  std::size_t points;  ///< in the tensor
  std::size_t given;   ///< the others only help to find the next crop
  std::size_t values;  ///< of a point: x, y and z, in pixels; then logits: visible, present
  bool has_side;       ///< whether it tells a left hand from a right one

  std::vector<std::string> labels() const {
    if (has_side) return {"left hand", "right hand"};
    return {"person"};
  }
};

constexpr Layout kHand{21, 21, 3, true}, kBody{39, 33, 5, false};

/// Indices of outputs. Points in metres are left out.
struct Parts {
  const Layout* layout = nullptr;
  std::size_t points = 0, presence = 0;
  std::optional<std::size_t> side, heat;
};

bool is_number(const TensorView& output) {
  return is_float(output) && (has_shape(output, {1, 1}) || has_shape(output, {1, 1, 1, 1}));
}

bool is_heat(const TensorView& output, const Layout& layout) {
  return is_float(output) && has_shape(output, {1, 0, 0, layout.points});
}

/// Equal shapes come in the authors' order: points in pixels before metres, presence before side.
std::optional<Parts> parts_of(const Found& found, const Layout& layout) {
  Parts parts;
  parts.layout = &layout;
  std::size_t points = 0, numbers = 0;
  for (std::size_t i = 0; i < found.outputs.size(); ++i) {
    const TensorView& output = found.outputs[i];
    if (is_float(output) && has_shape(output, {1, layout.points * layout.values})) {
      if (points++ == 0) {
        parts.points = i;
      }
    } else if (is_number(output)) {
      (numbers == 0 ? parts.presence : parts.side.emplace()) = i;
      ++numbers;
    } else if (!layout.has_side && is_heat(output, layout)) {
      parts.heat = i;
    }
  }
  const bool fits =
      points >= 1 && points <= (layout.has_side ? 2 : 1) && numbers == (layout.has_side ? 2 : 1);
  return fits ? std::optional(parts) : std::nullopt;
}

std::optional<Parts> parts_of(const Found& found) {
  const auto hand = parts_of(found, kHand);
  return hand ? hand : parts_of(found, kBody);
}

std::string refusal(const Found& found) {
  const auto parts = parts_of(found);
  if (!parts) return kOtherTensors;
  if (found.input.width == 0 || found.input.height == 0) return "has an input of unknown size";
  const std::size_t wanted = found.card.key_points;
  if (wanted == 0 || wanted == parts->layout->given) return "";
  return "has " + std::to_string(parts->layout->given) + " key points, not " +
         std::to_string(wanted);
}

/// A place in shares of the picture.
struct Place {
  double x = 0, y = 0;
};

/// The heat map of one point: values between others' values.
struct Heat {
  const float* values;
  std::size_t rows, columns, step;
};

constexpr std::size_t kReach = 3;  // of a kernel of 7 values

std::size_t first_in_reach(std::size_t middle) {
  return middle - std::min(middle, kReach);
}

/// Moves a point to the middle of the heat around it, where there is any.
Place refined(Place place, const Heat& heat) {
  constexpr double kLeastHeat = 0.5;  // probability
  const double x = std::trunc(place.x * static_cast<double>(heat.columns));
  const double y = std::trunc(place.y * static_cast<double>(heat.rows));
  const auto rows = static_cast<double>(heat.rows), columns = static_cast<double>(heat.columns);
  if (!(x >= 0 && x < columns && y >= 0 && y < rows)) return place;
  const auto middle_row = static_cast<std::size_t>(y), middle_column = static_cast<std::size_t>(x);
  double sum = 0, across = 0, down = 0, highest = 0;
  for (std::size_t row = first_in_reach(middle_row);
       row < std::min(heat.rows, middle_row + kReach + 1); ++row) {
    for (std::size_t column = first_in_reach(middle_column);
         column < std::min(heat.columns, middle_column + kReach + 1); ++column) {
      const float value = heat.values[(row * heat.columns + column) * heat.step];
      const double share = static_cast<double>(sigmoid(value));
      sum += share;
      across += static_cast<double>(column) * share;
      down += static_cast<double>(row) * share;
      highest = std::max(highest, share);
    }
  }
  if (!(highest >= kLeastHeat)) return place;
  return {across / columns / sum, down / rows / sum};
}

class LandmarksDecoder : public Decoder {
 public:
  explicit LandmarksDecoder(const Found& found)
      : parts_(parts_of(found).value()),
        made_for_(found.outputs.begin(), found.outputs.end()),
        input_(found.input),
        tells_side_(parts_.side && found.card.labels.size() != 1) {}

  Family family() const override { return Family::kLandmarks; }
  std::vector<std::string> usual_labels() const override { return parts_.layout->labels(); }
  void decode(std::span<const TensorView> outputs, const npu::FrameGeometry& geometry,
              FrameSize frame, const DecodeOptions& options, Answer* answer) override;

 private:
  void read(std::span<const TensorView> outputs, std::size_t part, std::vector<float>* to) const {
    read_all(checked_output(outputs, part, made_for_[part]), to);
  }
  std::uint32_t side(std::span<const TensorView> outputs);
  KeyPoint key_point(std::size_t point, const npu::FrameGeometry& geometry, FrameSize frame) const;

  Parts parts_;
  std::vector<TensorView> made_for_;
  InputSize input_;
  bool tells_side_;
  std::vector<float> points_, heat_, number_;
};

void LandmarksDecoder::decode(std::span<const TensorView> outputs,
                              const npu::FrameGeometry& geometry, FrameSize frame,
                              const DecodeOptions& options, Answer* answer) {
  answer->clear();
  read(outputs, parts_.points, &points_);
  read(outputs, parts_.presence, &number_);
  const float presence = number_.front();
  if (parts_.heat) {
    read(outputs, *parts_.heat, &heat_);
  }
  if (frame.width == 0 || frame.height == 0 || options.max_objects == 0) return;
  if (!are_finite(points_) || !are_finite(heat_) || !std::isfinite(presence)) {
    return leave_undefined(answer);
  }
  if (!(presence >= options.confidence_threshold)) return;
  answer->objects.push_back(filling(frame, probability(presence), side(outputs)));
  answer->key_points_per_object = parts_.layout->given;
  for (std::size_t point = 0; point < parts_.layout->given; ++point) {
    answer->key_points.push_back(key_point(point, geometry, frame));
  }
}

/// 0 for a left hand, 1 for a right one, in a picture that is not mirrored.
std::uint32_t LandmarksDecoder::side(std::span<const TensorView> outputs) {
  if (!tells_side_) return 0;
  read(outputs, *parts_.side, &number_);
  const float right = number_.front();
  return std::isfinite(right) && probability(right) >= 0.5F ? 1 : 0;
}

KeyPoint LandmarksDecoder::key_point(std::size_t point, const npu::FrameGeometry& geometry,
                                     FrameSize frame) const {
  const Layout& layout = *parts_.layout;
  const float* values = &points_[point * layout.values];
  const double width = input_.width, height = input_.height;
  Place place{values[0] / width, values[1] / height};
  if (parts_.heat) {
    const TensorView& heat = made_for_[*parts_.heat];
    place = refined(place, {&heat_[point], heat.dims[1], heat.dims[2], layout.points});
  }
  constexpr std::size_t kVisible = 3;
  return {frame_x(place.x * width, geometry, frame), frame_y(place.y * height, geometry, frame),
          layout.values > kVisible ? sigmoid(values[kVisible]) : 1};
}

std::unique_ptr<Decoder> make(const Found& found) {
  return std::make_unique<LandmarksDecoder>(found);
}

constexpr std::array kTasks{Task::kKeyPoints, Task::kPose};

}  // namespace

const Contract kLandmarksContract{
    Family::kLandmarks, kTasks,
    "[1, 63] with two numbers [1, 1] (a hand), or [1, 195] with one (a body), and heat maps "
    "[1, height, width, 39]",
    refusal, make};

}  // namespace npu::vision
