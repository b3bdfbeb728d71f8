// PaddleOCR's text detectors (differentiable binarisation): a map of the probability of text for
// each pixel, where lines are shrunken.
#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "boxes.hpp"
#include "families.hpp"
#include "rectangle.hpp"
#include "values.hpp"

namespace npu::vision {
namespace {

constexpr float kIsText = 0.3F;  // PaddleOCR's own value, like the next
constexpr float kUnclipRatio = 1.5;
constexpr double kLeastSide = 3;     // of a line before it grows, map pixels
constexpr double kLeastGrown = 5;    // of a line after it has grown, map pixels
constexpr double kLeastInFrame = 4;  // frame pixels

bool fits(const Found&, const TensorView& output) {
  return is_float(output) && (has_shape(output, {1, 1, 0, 0}) || has_shape(output, {1, 0, 0}));
}

std::string refusal(const Found& found) {
  const int only = only_output(found, fits);
  if (only < 0) return why_none(found, fits);
  const float is_text = found.card.pixel_threshold.value_or(kIsText);
  if (!(is_text >= 0 && is_text <= 1)) return "has a pixel_threshold that is not from 0 to 1";
  const bool is_told =
      found.card.task == Task::kFindText || found.card.family == Family::kTextBoxes;
  if (!is_told) return "could be another map: set model-task to find-text";
  const TensorView& map = found.outputs[static_cast<std::size_t>(only)];
  return has_proportions(map, found.input) ? "" : kOtherProportions;
}

/// Columns from `begin` up to, not including, `end`.
struct Span {
  std::size_t begin = std::numeric_limits<std::size_t>::max(), end = 0;
};

/// The pixel that contains the point.
Point whole(const Point& point) {
  constexpr double kRounding = 1e-6;
  return {std::floor(std::max(point.x, 0.0) + kRounding),
          std::floor(std::max(point.y, 0.0) + kRounding)};
}

class TextBoxesDecoder : public Decoder {
 public:
  explicit TextBoxesDecoder(const Found& found)
      : index_(static_cast<std::size_t>(only_output(found, fits))),
        made_for_(found.outputs[index_]),
        width_(made_for_.dims.at(made_for_.rank - 1)),
        height_(made_for_.dims.at(made_for_.rank - 2)),
        threshold_(found.card.pixel_threshold.value_or(kIsText)),
        unclip_ratio_(static_cast<double>(found.card.unclip_ratio.value_or(kUnclipRatio))),
        use_dilation_(found.card.use_dilation.value_or(false)) {}

  Family family() const override { return Family::kTextBoxes; }
  std::vector<std::string> usual_labels() const override { return {"text"}; }
  void decode(std::span<const TensorView> outputs, const npu::FrameGeometry& geometry,
              FrameSize frame, const DecodeOptions& options, Answer* answer) override;

 private:
  void read_map(const TensorView& map);
  void dilate();
  void outline(std::size_t start);
  void visit(std::ptrdiff_t x, std::ptrdiff_t y);
  double score_of(const OrientedBox& line);
  void draw(const Point& from, const Point& to);
  void add(OrientedBox line, double score, const npu::FrameGeometry& geometry, FrameSize frame);

  std::size_t index_;
  TensorView made_for_;
  std::size_t width_, height_;
  float threshold_;  // pixels above it belong to a line
  double unclip_ratio_;
  bool use_dilation_;
  std::vector<float> map_;
  std::vector<bool> is_text_, is_open_;  // is_open_: not in a line yet
  std::vector<std::size_t> to_visit_;
  std::vector<Point> outline_;
  std::vector<Span> spans_;  // of a rectangle, one for each row of the map
  SmallestRectangle smallest_;
  std::vector<Object> lines_;
};

void TextBoxesDecoder::decode(std::span<const TensorView> outputs,
                              const npu::FrameGeometry& geometry, FrameSize frame,
                              const DecodeOptions& options, Answer* answer) {
  answer->clear();
  check_memory(outputs[index_], made_for_);
  read_map(outputs[index_]);
  lines_.clear();
  for (std::size_t i = 0; i < map_.size(); ++i) {
    if (!is_open_[i]) continue;
    outline(i);
    const OrientedBox line = smallest_.around(&outline_);
    if (line.height < kLeastSide) continue;
    const double score = score_of(line);
    if (score >= static_cast<double>(options.confidence_threshold)) {
      add(line, score, geometry, frame);
    }
  }
  // Equal scores keep the order of the map's rows.
  std::sort(lines_.begin(), lines_.end(), [](const Object& a, const Object& b) {
    return a.confidence != b.confidence ? a.confidence > b.confidence : a.label_id < b.label_id;
  });
  for (Object& line : lines_) {
    if (answer->objects.size() >= options.max_objects) break;
    line.label_id = 0;
    answer->objects.push_back(line);
  }
}

// Values that are not finite are no text.
void TextBoxesDecoder::read_map(const TensorView& map) {
  read_all(map, &map_);
  is_text_.assign(map_.size(), false);
  for (std::size_t i = 0; i < map_.size(); ++i) {
    map_[i] = std::isfinite(map_[i]) ? probability(map_[i]) : 0.0F;
    is_text_[i] = map_[i] > threshold_;
  }
  if (use_dilation_) {
    dilate();
  }
  is_open_ = is_text_;
}

// Dilates by a square of two pixels to the right and down, as the authors do with OpenCV. Goes
// backwards, so that the pixels it looks at have not grown yet.
void TextBoxesDecoder::dilate() {
  for (std::size_t i = is_text_.size(); i-- > 0;) {
    const bool has_left = i % width_ > 0, has_above = i >= width_;
    is_text_[i] = is_text_[i] || (has_left && is_text_[i - 1]) ||
                  (has_above && (is_text_[i - width_] || (has_left && is_text_[i - width_ - 1])));
  }
}

// Collects the leftmost and the rightmost pixel of each run, which include the hull's corners.
void TextBoxesDecoder::outline(std::size_t start) {
  outline_.clear();
  to_visit_.clear();
  to_visit_.push_back(start);
  is_open_[start] = false;
  while (!to_visit_.empty()) {
    const std::size_t at = to_visit_.back();
    to_visit_.pop_back();
    const auto x = static_cast<std::ptrdiff_t>(at % width_);
    const auto y = static_cast<std::ptrdiff_t>(at / width_);
    const bool goes_on_left = at % width_ > 0 && is_text_[at - 1];
    const bool goes_on_right = at % width_ + 1 < width_ && is_text_[at + 1];
    if (!goes_on_left || !goes_on_right) {
      outline_.push_back({static_cast<double>(x), static_cast<double>(y)});
    }
    for (std::ptrdiff_t down = -1; down <= 1; ++down) {
      for (std::ptrdiff_t across = -1; across <= 1; ++across) visit(x + across, y + down);
    }
  }
}

void TextBoxesDecoder::visit(std::ptrdiff_t x, std::ptrdiff_t y) {
  if (x < 0 || y < 0) return;
  const auto column = static_cast<std::size_t>(x), row = static_cast<std::size_t>(y);
  if (column >= width_ || row >= height_) return;
  const std::size_t at = row * width_ + column;
  if (!is_open_[at]) return;
  is_open_[at] = false;
  to_visit_.push_back(at);
}

/// Mean of the map over the rectangle, its corners cut to whole pixels and its sides included: the
/// pixels that OpenCV's fillPoly draws for the authors.
double TextBoxesDecoder::score_of(const OrientedBox& line) {
  spans_.assign(height_, {});
  const auto corners = corners_of(line);
  for (std::size_t i = 0; i < corners.size(); ++i) {
    draw(whole(corners.at(i)), whole(corners.at((i + 1) % corners.size())));
  }
  double sum = 0;
  std::size_t pixels = 0;
  for (std::size_t y = 0; y < height_; ++y) {
    for (std::size_t x = spans_[y].begin; x < spans_[y].end; ++x) {
      sum += static_cast<double>(map_[y * width_ + x]);
      ++pixels;
    }
  }
  return pixels > 0 ? sum / static_cast<double>(pixels) : 0;
}

/// Extends the spans to each pixel of the line.
void TextBoxesDecoder::draw(const Point& from, const Point& to) {
  const double across = to.x - from.x, down = to.y - from.y;
  const double steps = std::max({std::abs(across), std::abs(down), 1.0});
  const auto last = static_cast<std::size_t>(steps);
  for (std::size_t i = 0; i <= last; ++i) {
    const double part = static_cast<double>(i) / steps;
    const double x = std::floor(from.x + across * part + 0.5);
    const double y = std::floor(from.y + down * part + 0.5);
    if (x >= static_cast<double>(width_) || y >= static_cast<double>(height_)) continue;
    Span& span = spans_[static_cast<std::size_t>(y)];
    const auto column = static_cast<std::size_t>(x);
    span.begin = std::min(span.begin, column);
    span.end = std::max(span.end, column + 1);
  }
}

// Each side moves out by area * ratio / perimeter: the model was trained on lines shrunken by that.
void TextBoxesDecoder::add(OrientedBox line, double score, const npu::FrameGeometry& geometry,
                           FrameSize frame) {
  const double grow = line.width * line.height * unclip_ratio_ / (2 * (line.width + line.height));
  line.width += 2 * grow;
  line.height += 2 * grow;
  if (line.height < kLeastGrown) return;
  const double scale_x = geometry.model_width / static_cast<double>(width_);
  const double scale_y = geometry.model_height / static_cast<double>(height_);
  outline_.clear();
  Object object{.left = static_cast<double>(frame.width),
                .top = static_cast<double>(frame.height),
                .right = 0,
                .bottom = 0,
                .confidence = static_cast<float>(score),
                .label_id = static_cast<std::uint32_t>(lines_.size()),
                .oriented = {}};
  for (const Point& corner : corners_of(line)) {
    const double x = frame_x(corner.x * scale_x, geometry, frame);
    const double y = frame_y(corner.y * scale_y, geometry, frame);
    outline_.push_back({x, y});
    object.left = std::min(object.left, x);
    object.top = std::min(object.top, y);
    object.right = std::max(object.right, x);
    object.bottom = std::max(object.bottom, y);
  }
  object.oriented = smallest_.around(&outline_);
  if (object.oriented->height >= kLeastInFrame) {
    lines_.push_back(object);
  }
}

std::unique_ptr<Decoder> make(const Found& found) {
  return std::make_unique<TextBoxesDecoder>(found);
}

constexpr std::array kTasks{Task::kFindText};

}  // namespace

const Contract kTextBoxesContract{Family::kTextBoxes, kTasks,
                                  "a map [1, 1, height, width] of what is text", refusal, make};

}  // namespace npu::vision
