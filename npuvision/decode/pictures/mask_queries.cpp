// Universal segmentation: each query has a share of each class, and a mask. MaskFormer, Mask2Former
// and OneFormer make classes of places or objects of the same outputs.
#include <algorithm>
#include <array>
#include <cmath>
#include <string>
#include <string_view>
#include <vector>

#include "boxes.hpp"
#include "families.hpp"
#include "masks.hpp"
#include "values.hpp"

namespace npu::vision {
namespace {

constexpr std::size_t kMostClasses = 1 << 16;  // of Answer::class_map

struct Parts {
  int classes = -1, masks = -1;
};

bool is_pair(const TensorView& classes, const TensorView& masks) {
  return is_float(classes) && is_float(masks) && has_shape(classes, {1, 0, 0}) &&
         classes.dims[2] > 1 && has_shape(masks, {1, classes.dims[1], 0, 0});
}

const TensorView& output(const Found& found, int index) {
  return found.outputs[static_cast<std::size_t>(index)];
}

bool has_names(const Found& found, const Parts& parts) {
  return output(found, parts.classes).name == "class_queries_logits" &&
         output(found, parts.masks).name == "masks_queries_logits";
}

// Features of the queries may lie beside their classes.
bool is_labelled(const Found& found, const Parts& parts) {
  const std::size_t labels = found.card.labels.size();
  return labels == 0 || output(found, parts.classes).dims[2] == labels + 1;
}

/// Finds the outputs by their authors' names, else by shape and labels; empty where several pairs
/// fit.
Parts parts_of(const Found& found) {
  std::vector<Parts> named, labelled;
  const int count = static_cast<int>(found.outputs.size());
  for (Parts parts{0, 0}; parts.classes < count; ++parts.classes) {
    for (parts.masks = 0; parts.masks < count; ++parts.masks) {
      if (!is_pair(output(found, parts.classes), output(found, parts.masks))) continue;
      if (has_names(found, parts)) {
        named.push_back(parts);
      } else if (is_labelled(found, parts)) {
        labelled.push_back(parts);
      }
    }
  }
  if (named.size() == 1) return named.front();
  return named.empty() && labelled.size() == 1 ? labelled.front() : Parts{};
}

std::string refusal(const Found& found) {
  const Parts parts = parts_of(found);
  if (parts.classes < 0) return "has other tensors, or more than one such pair";
  if (!has_proportions(output(found, parts.masks), found.input)) return kOtherProportions;
  const ModelCard& card = found.card;
  if (!has_names(found, parts) && card.family != Family::kMaskQueries) {
    return "could have masks of another kind: set model-family to mask-queries";
  }
  if (card.task == Task::kUnknown) {
    return "gives a map of classes as well as objects: set model-task to semantic or to segment";
  }
  const std::size_t classes = output(found, parts.classes).dims[2] - 1;
  if (classes > kMostClasses) return "has more than 65536 classes";
  if (is_labelled(found, parts)) return "";
  return "has " + std::to_string(classes) + " classes and one for none, but there are " +
         std::to_string(card.labels.size()) + " labels: give one for each class";
}

/// A class of a query, as an object.
struct Choice {
  std::size_t query, label;
  float score;
};

// Equal ones in the order of the tensor.
bool is_better(const Choice& a, const Choice& b) {
  if (a.score != b.score) return a.score > b.score;
  return a.query != b.query ? a.query < b.query : a.label < b.label;
}

class MaskQueriesDecoder : public Decoder {
 public:
  explicit MaskQueriesDecoder(const Found& found);

  Family family() const override { return Family::kMaskQueries; }
  void decode(std::span<const TensorView> outputs, const npu::FrameGeometry& geometry,
              FrameSize frame, const DecodeOptions& options, Answer* answer) override;

 private:
  std::span<const float> shares_of(std::size_t query) const;
  bool read_shares(const TensorView& classes);
  void read_plane(const TensorView& masks, std::size_t query);
  bool are_mask_shares(const TensorView& masks);

  void give_map(const TensorView& masks, const Window& window, Answer* answer);
  bool sum_row(const TensorView& masks, const Window& window, std::size_t y);

  void choose(const TensorView& masks, const DecodeOptions& options);
  float mean_share() const;
  void place(const TensorView& masks, const npu::FrameGeometry& geometry, FrameSize frame);
  void give_objects(const TensorView& masks, const npu::FrameGeometry& geometry, FrameSize frame,
                    Answer* answer);

  std::size_t classes_index_, masks_index_;
  TensorView classes_made_for_, masks_made_for_;
  std::size_t queries_, columns_;  // columns: the classes, and none
  LogitPlane plane_size_;
  LogitPlane scored_size_;                 // to which masks are scaled for their mean
  std::vector<PlaneStep> scored_columns_;  // of each of its columns
  bool gives_map_;
  bool has_mask_shares_ = false;  // of this frame: probabilities instead of logits

  std::vector<float> shares_;          // of each column, query after query
  std::vector<float> plane_;           // a query's mask
  std::vector<float> row_, sums_;      // of a map: a query's row; each class's sum
  std::vector<std::uint16_t> labels_;  // of a map's row
  std::vector<float> best_;
  std::vector<Choice> choices_;
  std::vector<Object> objects_;
  std::vector<std::size_t> of_query_;  // of each object
  Answer drawn_;                       // one mask, before its edges are known
  MaskPainter painter_;
};

// Mask2Former's image processor scales all masks to that size before it scores them.
constexpr std::size_t kScored = 384;

MaskQueriesDecoder::MaskQueriesDecoder(const Found& found)
    : classes_index_(static_cast<std::size_t>(parts_of(found).classes)),
      masks_index_(static_cast<std::size_t>(parts_of(found).masks)),
      classes_made_for_(found.outputs[classes_index_]),
      masks_made_for_(found.outputs[masks_index_]),
      queries_(classes_made_for_.dims[1]),
      columns_(classes_made_for_.dims[2]),
      plane_size_{.width = masks_made_for_.dims[3], .height = masks_made_for_.dims[2]},
      scored_size_(plane_size_),
      gives_map_(found.card.task == Task::kSemantic) {
  if (found.card.architecture.starts_with("Mask2Former")) {
    scored_size_ = {.width = kScored, .height = kScored};
  }
  for (std::size_t x = 0; x < scored_size_.width; ++x) {
    scored_columns_.push_back(step_of(x, scored_size_.width, plane_size_.width));
  }
}

void MaskQueriesDecoder::decode(std::span<const TensorView> outputs,
                                const npu::FrameGeometry& geometry, FrameSize frame,
                                const DecodeOptions& options, Answer* answer) {
  answer->clear();
  const TensorView& classes = checked_output(outputs, classes_index_, classes_made_for_);
  const TensorView& masks = checked_output(outputs, masks_index_, masks_made_for_);
  if (!read_shares(classes)) return leave_undefined(answer);
  has_mask_shares_ = are_mask_shares(masks);
  if (gives_map_) {
    return give_map(masks, window_of(geometry, frame, plane_size_.width, plane_size_.height),
                    answer);
  }
  choose(masks, options);
  place(masks, geometry, frame);
  give_objects(masks, geometry, frame, answer);
}

std::span<const float> MaskQueriesDecoder::shares_of(std::size_t query) const {
  return std::span(shares_).subspan(query * columns_, columns_ - 1);
}

/// Makes a softmax of each query's classes. False where a logit is not finite.
bool MaskQueriesDecoder::read_shares(const TensorView& classes) {
  read_all(classes, &shares_);
  undo_softmax(shares_, columns_);
  if (!are_finite(shares_)) return false;
  for (auto left = std::span(shares_); !left.empty(); left = left.subspan(columns_)) {
    const auto row = left.first(columns_);
    const float largest = *std::max_element(row.begin(), row.end());
    double sum = 0;
    for (float& value : row) sum += value = std::exp(value - largest);
    for (float& value : row) value = static_cast<float>(value / sum);
  }
  return true;
}

void MaskQueriesDecoder::read_plane(const TensorView& masks, std::size_t query) {
  plane_.resize(plane_size_.width * plane_size_.height);
  for (std::size_t y = 0; y < plane_size_.height; ++y) {
    read(masks, element(masks, {0, query, y}), masks.strides_bytes[3],
         std::span(plane_).subspan(y * plane_size_.width, plane_size_.width));
  }
  if (has_mask_shares_) {
    to_logits(plane_);
  }
}

/// Stops at the first query's logits.
bool MaskQueriesDecoder::are_mask_shares(const TensorView& masks) {
  has_mask_shares_ = false;
  for (std::size_t query = 0; query < queries_; ++query) {
    read_plane(masks, query);
    if (!are_shares(plane_)) return false;
  }
  return true;
}

// ---- A class for each place

void MaskQueriesDecoder::give_map(const TensorView& masks, const Window& window, Answer* answer) {
  row_.resize(window.width);
  labels_.resize(window.width);
  for (std::size_t y = 0; y < window.height; ++y) {
    if (!sum_row(masks, window, window.top + y)) return leave_undefined(answer);
    best_.assign(window.width, -1);
    for (std::size_t label = 0; label + 1 < columns_; ++label) {
      const float* sum = &sums_[label * window.width];
      for (std::size_t x = 0; x < window.width; ++x) {
        if (sum[x] <= best_[x]) continue;
        best_[x] = sum[x];
        labels_[x] = static_cast<std::uint16_t>(label);
      }
    }
    answer->class_map.values.insert(answer->class_map.values.end(), labels_.begin(), labels_.end());
  }
  answer->class_map.width = static_cast<std::uint32_t>(window.width);
  answer->class_map.height = static_cast<std::uint32_t>(window.height);
}

/// For each class and place of a row: the sum of all queries' shares of the class, each times its
/// mask there. False where a mask is not finite.
bool MaskQueriesDecoder::sum_row(const TensorView& masks, const Window& window, std::size_t y) {
  sums_.assign((columns_ - 1) * window.width, 0);
  for (std::size_t query = 0; query < queries_; ++query) {
    read(masks, element(masks, {0, query, y, window.left}), masks.strides_bytes[3], row_);
    if (!are_finite(row_)) return false;
    if (has_mask_shares_) {
      to_logits(row_);
    }
    for (float& value : row_) value = sigmoid(value);
    float* sum = sums_.data();
    for (const float share : shares_of(query)) {
      for (const float value : row_) *sum++ += share * value;
    }
  }
  return true;
}

// ---- Objects

/// Takes as many of all queries' classes as there are queries, and scores them by their masks.
void MaskQueriesDecoder::choose(const TensorView& masks, const DecodeOptions& options) {
  choices_.clear();
  for (std::size_t query = 0; query < queries_; ++query) {
    const auto shares = shares_of(query);
    for (std::size_t label = 0; label < shares.size(); ++label) {
      if (shares[label] >= options.confidence_threshold) {
        choices_.push_back({query, label, shares[label]});
      }
    }
  }
  std::sort(choices_.begin(), choices_.end(), is_better);
  choices_.resize(std::min(choices_.size(), queries_), {0, 0, 0});
  for (Choice& choice : choices_) {
    read_plane(masks, choice.query);
    choice.score *= mean_share();
  }
  std::erase_if(choices_, [&](const Choice& choice) {
    return !(choice.score >= options.confidence_threshold);
  });
  std::sort(choices_.begin(), choices_.end(), is_better);
  choices_.resize(std::min(choices_.size(), options.max_objects), {0, 0, 0});
}

/// The mean of the mask's shares above one half; 0 where none is.
float MaskQueriesDecoder::mean_share() const {
  double sum = 0;
  std::size_t count = 0;
  for (std::size_t y = 0; y < scored_size_.height; ++y) {
    const PlaneStep row = step_of(y, scored_size_.height, plane_size_.height);
    const float* low = &plane_[row.low * plane_size_.width];
    const float* high = &plane_[row.high * plane_size_.width];
    for (const PlaneStep& at : scored_columns_) {
      const float logit = between(between(low[at.low], low[at.high], at.weight),
                                  between(high[at.low], high[at.high], at.weight), row.weight);
      if (!(logit > 0)) continue;
      sum += sigmoid(logit);
      ++count;
    }
  }
  return count > 0 ? static_cast<float>(sum / static_cast<double>(count)) : 0;
}

/// The smallest rectangle around a mask's pixels, empty where it has none.
Object edges_of(const Mask& mask, std::span<const std::uint8_t> pixels) {
  std::uint32_t left = mask.columns, top = mask.rows, right = 0, bottom = 0;
  for (std::size_t i = 0; i < pixels.size(); ++i) {
    if (pixels[i] == 0) continue;
    const auto x = static_cast<std::uint32_t>(i % mask.columns);
    const auto y = static_cast<std::uint32_t>(i / mask.columns);
    left = std::min(left, x);
    right = std::max(right, x + 1);
    top = std::min(top, y);
    bottom = y + 1;
  }
  const double width = static_cast<double>(mask.width) / mask.columns;
  const double height = static_cast<double>(mask.height) / mask.rows;
  return {.left = mask.x + left * width,
          .top = mask.y + top * height,
          .right = mask.x + right * width,
          .bottom = mask.y + bottom * height,
          .oriented = {}};
}

/// Finds each object's box: its mask's. One without a pixel in the frame is none.
void MaskQueriesDecoder::place(const TensorView& masks, const npu::FrameGeometry& geometry,
                               FrameSize frame) {
  objects_.clear();
  of_query_.clear();
  for (const Choice& choice : choices_) {
    read_plane(masks, choice.query);
    const auto region = region_of(plane_size_, plane_, geometry, frame);
    if (!region || !(region->left < region->right && region->top < region->bottom)) continue;
    drawn_.clear();
    painter_.begin(plane_size_, geometry, frame, std::span(&*region, 1));
    painter_.paint_of_whole(*region, plane_, &drawn_);
    Object object = edges_of(drawn_.masks.front(), drawn_.mask_pixels);
    if (!(object.left < object.right)) continue;
    object.confidence = choice.score;
    object.label_id = static_cast<std::uint32_t>(choice.label);
    objects_.push_back(object);
    of_query_.push_back(choice.query);
  }
}

void MaskQueriesDecoder::give_objects(const TensorView& masks, const npu::FrameGeometry& geometry,
                                      FrameSize frame, Answer* answer) {
  painter_.begin(plane_size_, geometry, frame, objects_);
  for (std::size_t i = 0; i < objects_.size(); ++i) {
    read_plane(masks, of_query_[i]);
    painter_.paint_of_whole(objects_[i], plane_, answer);
    answer->objects.push_back(objects_[i]);
  }
}

std::unique_ptr<Decoder> make(const Found& found) {
  return std::make_unique<MaskQueriesDecoder>(found);
}

constexpr std::array kTasks{Task::kSemantic, Task::kSegment};

}  // namespace

const Contract kMaskQueriesContract{Family::kMaskQueries, kTasks,
                                    "classes [1, queries, classes + 1] and masks [1, queries, "
                                    "rows, columns]",
                                    refusal, make};

}  // namespace npu::vision
