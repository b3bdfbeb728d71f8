// MediaPipe's detectors of faces (BlazeFace), palms and bodies: boxes and key points relative to
// anchors that cover the picture. Overlapping ones become one, their mean weighted by score.
#include <algorithm>
#include <array>
#include <cmath>
#include <string>

#include "boxes.hpp"
#include "families.hpp"
#include "values.hpp"

namespace npu::vision {
namespace {

constexpr std::size_t kMostValues = 18;  // of a box: four, and two for each key point
constexpr float kMostLogit = 80;         // beyond it a score is 0 or 1

/// A grid with several anchors at each place.
struct Layer {
  std::size_t stride = 0, anchors = 0;
};

/// An input size and the grids that cover it.
struct Layout {
  std::uint32_t input;
  std::size_t boxes, values;
  std::array<Layer, 3> layers;
  const char* finds;
};

// clang-format off
constexpr Layout kLayouts[] = {
    {128, 896, 16, {{{8, 2}, {16, 6}}}, "face"},             // faces: short range, front camera
    {256, 896, 16, {{{16, 2}, {32, 6}}}, "face"},            // back camera
    {192, 2304, 16, {{{4, 1}}}, "face"},                     // full range
    {192, 2016, 18, {{{8, 2}, {16, 6}}}, "palm"},            // palms
    {256, 2944, 18, {{{8, 2}, {16, 2}, {32, 6}}}, "palm"},   // of the first version
    {224, 2254, 12, {{{8, 2}, {16, 2}, {32, 6}}}, "person"}, // bodies
    {128, 896, 12, {{{8, 2}, {16, 6}}}, "person"}};          // of the first version
// clang-format on

bool fits(const Found& found, const Layout& layout, const TensorView& output, std::size_t values) {
  return layout.input == found.input.width && layout.input == found.input.height &&
         is_float(output) && has_shape(output, {1, layout.boxes, values});
}

const Layout* layout_of(const Found& found, const TensorView& boxes) {
  const auto* layout =
      std::find_if(std::begin(kLayouts), std::end(kLayouts),
                   [&](const Layout& one) { return fits(found, one, boxes, one.values); });
  return layout == std::end(kLayouts) ? nullptr : layout;
}

bool is_boxes(const Found& found, const TensorView& output) {
  return layout_of(found, output) != nullptr;
}

bool is_scores(const Found& found, const TensorView& output) {
  return std::any_of(std::begin(kLayouts), std::end(kLayouts),
                     [&](const Layout& one) { return fits(found, one, output, 1); });
}

// Ignores the tensor name in the card: the model's two outputs belong together.
int only_of(const Found& found, bool (*fits)(const Found& found, const TensorView& output)) {
  int only = -1;
  for (std::size_t i = 0; i < found.outputs.size(); ++i) {
    if (!fits(found, found.outputs[i])) continue;
    if (only != -1) return -2;
    only = static_cast<int>(i);
  }
  return only;
}

std::string refusal(const Found& found) {
  const int boxes = only_of(found, is_boxes), scores = only_of(found, is_scores);
  const auto dims = [&](int at) { return found.outputs[static_cast<std::size_t>(at)].dims; };
  if (boxes < 0 || scores < 0 || dims(boxes)[1] != dims(scores)[1]) {
    return "has other tensors, or an input of another size";
  }
  const std::size_t points = (dims(boxes)[2] - 4) / 2, wanted = found.card.key_points;
  if (wanted == 0 || wanted == points) return "";
  return "has " + std::to_string(points) + " key points, not " + std::to_string(wanted);
}

struct Face {
  float score = 0;
  std::array<double, kMostValues> values{};  ///< left, top, right, bottom, then x, y: model pixels
  std::size_t index = 0;
};

Edges edges_of(const Face& face) {
  return {face.values[0], face.values[1], face.values[2], face.values[3]};
}

class AnchorsDecoder : public Decoder {
 public:
  explicit AnchorsDecoder(const Found& found);

  Family family() const override { return Family::kAnchors; }
  std::vector<std::string> usual_labels() const override { return {finds_}; }
  void decode(std::span<const TensorView> outputs, const npu::FrameGeometry& geometry,
              FrameSize frame, const DecodeOptions& options, Answer* answer) override;

 private:
  void collect(float threshold);
  void add(std::size_t index, float score);
  Face take_best(float iou_threshold);
  void give(const Face& face, const npu::FrameGeometry& geometry, FrameSize frame, Answer* answer);

  std::size_t boxes_index_, scores_index_;
  TensorView boxes_made_for_, scores_made_for_;
  std::size_t number_of_values_;
  const char* finds_ = "";
  std::vector<std::array<double, 2>> anchors_;  // centres, model pixels
  std::vector<float> boxes_values_, scores_;
  std::vector<Face> faces_;  // remaining faces, best first
};

AnchorsDecoder::AnchorsDecoder(const Found& found)
    : boxes_index_(static_cast<std::size_t>(only_of(found, is_boxes))),
      scores_index_(static_cast<std::size_t>(only_of(found, is_scores))),
      boxes_made_for_(found.outputs[boxes_index_]),
      scores_made_for_(found.outputs[scores_index_]),
      number_of_values_(boxes_made_for_.dims[2]) {
  const Layout& layout = *layout_of(found, boxes_made_for_);
  finds_ = layout.finds;
  for (const Layer& layer : layout.layers) {
    const std::size_t places = layer.stride > 0 ? layout.input / layer.stride : 0;
    for (std::size_t i = 0; i < places * places * layer.anchors; ++i) {
      const std::size_t place = i / layer.anchors;
      const std::size_t column = place % places, row = place / places;
      const auto pixels = static_cast<double>(layer.stride);
      anchors_.push_back({(static_cast<double>(column) + 0.5) * pixels,
                          (static_cast<double>(row) + 0.5) * pixels});
    }
  }
}

void AnchorsDecoder::decode(std::span<const TensorView> outputs, const npu::FrameGeometry& geometry,
                            FrameSize frame, const DecodeOptions& options, Answer* answer) {
  answer->clear();
  check_memory(outputs[boxes_index_], boxes_made_for_);
  check_memory(outputs[scores_index_], scores_made_for_);
  read_all(outputs[boxes_index_], &boxes_values_);
  read_all(outputs[scores_index_], &scores_);
  undo_sigmoid(scores_);
  collect(options.confidence_threshold);
  answer->key_points_per_object = (number_of_values_ - 4) / 2;
  while (!faces_.empty() && answer->objects.size() < options.max_objects) {
    give(take_best(options.iou_threshold), geometry, frame, answer);
  }
}

void AnchorsDecoder::collect(float threshold) {
  faces_.clear();
  for (std::size_t i = 0; i < scores_.size(); ++i) {
    if (!std::isfinite(scores_[i])) continue;
    const float score = sigmoid(std::clamp(scores_[i], -kMostLogit, kMostLogit));
    if (score >= threshold) {
      add(i, score);
    }
  }
  std::sort(faces_.begin(), faces_.end(), [](const Face& a, const Face& b) {
    return a.score != b.score ? a.score > b.score : a.index < b.index;
  });
}

// Centre and key points are relative to the anchor; model pixels.
void AnchorsDecoder::add(std::size_t index, float score) {
  const auto raw = std::span(boxes_values_).subspan(index * number_of_values_, number_of_values_);
  if (!are_finite(raw) || !(raw[2] > 0) || !(raw[3] > 0)) return;
  const auto [x, y] = anchors_[index];
  Face face{score, {}, index};
  face.values[0] = x + raw[0] - raw[2] / 2.0;
  face.values[1] = y + raw[1] - raw[3] / 2.0;
  face.values[2] = x + raw[0] + raw[2] / 2.0;
  face.values[3] = y + raw[1] + raw[3] / 2.0;
  for (std::size_t i = 4; i < number_of_values_; i += 2) {
    face.values.at(i) = x + raw[i];
    face.values.at(i + 1) = y + raw[i + 1];
  }
  faces_.push_back(face);
}

/// Removes the best face and all that overlap it; returns their mean, weighted by score.
Face AnchorsDecoder::take_best(float iou_threshold) {
  const Face best = faces_.front();
  Face mean = best;
  double total = static_cast<double>(best.score);
  for (double& value : mean.values) value *= total;
  const auto is_same = [&](const Face& face) {
    if (face.index == best.index) return true;
    if (!(overlap(edges_of(best), edges_of(face)) > iou_threshold)) return false;
    for (std::size_t i = 0; i < number_of_values_; ++i) {
      mean.values.at(i) += face.values.at(i) * static_cast<double>(face.score);
    }
    total += static_cast<double>(face.score);
    return true;
  };
  faces_.erase(std::remove_if(faces_.begin(), faces_.end(), is_same), faces_.end());
  for (double& value : mean.values) value /= total;
  return mean;
}

void AnchorsDecoder::give(const Face& face, const npu::FrameGeometry& geometry, FrameSize frame,
                          Answer* answer) {
  const Object object{.left = frame_x(face.values[0], geometry, frame),
                      .top = frame_y(face.values[1], geometry, frame),
                      .right = frame_x(face.values[2], geometry, frame),
                      .bottom = frame_y(face.values[3], geometry, frame),
                      .confidence = face.score,
                      .label_id = 0,
                      .oriented = {}};
  if (!(object.left < object.right && object.top < object.bottom)) return;
  answer->objects.push_back(object);
  for (std::size_t i = 4; i < number_of_values_; i += 2) {
    answer->key_points.push_back({frame_x(face.values.at(i), geometry, frame),
                                  frame_y(face.values.at(i + 1), geometry, frame), 1});
  }
}

std::unique_ptr<Decoder> make(const Found& found) {
  return std::make_unique<AnchorsDecoder>(found);
}

constexpr std::array kTasks{Task::kDetect, Task::kPose};

}  // namespace

const Contract kAnchorsContract{
    Family::kAnchors, kTasks,
    "[1, anchors, 16] and [1, anchors, 1] for a picture of 128x128, 192x192 or 256x256 (faces), "
    "with 18 for 192x192 (palms), with 12 for 224x224 (bodies)",
    refusal, make};

}  // namespace npu::vision
