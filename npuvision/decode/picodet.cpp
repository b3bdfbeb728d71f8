// PaddleDetection's PicoDet without its own suppression. Each cell of four grids has a score for
// each class, and for each edge's distance a distribution over whole numbers of cells.
#include <algorithm>
#include <array>
#include <cmath>
#include <string>

#include "boxes.hpp"
#include "families.hpp"
#include "values.hpp"

namespace npu::vision {
namespace {

constexpr std::size_t kEdges = 4;
constexpr std::array<std::uint32_t, 4> kStrides{8, 16, 32, 64};
constexpr std::size_t kBins = 8;  // of an edge's distribution: 0 to 7 cells away

/// One grid over the model's input, and its outputs.
struct Grid {
  std::uint32_t stride = 0;  ///< model pixels
  std::size_t columns = 0, cells = 0;
  int scores = -1, distances = -1;
};

Grid grid_of(std::uint32_t stride, InputSize input) {
  Grid grid{.stride = stride, .columns = (input.width + stride - 1) / stride};
  grid.cells = grid.columns * ((input.height + stride - 1) / stride);
  return grid;
}

bool has_distances(const TensorView& output) {
  return output.dims[2] == kEdges * kBins;
}

// If both outputs have as many values, the first has the scores, in the authors' order.
void add(const Found& found, int place, Grid* grid) {
  const bool is_second = grid->scores >= 0;
  const auto output = [&](int at) { return found.outputs[static_cast<std::size_t>(at)]; };
  if (is_second && !has_distances(output(place))) {
    grid->distances = grid->scores;
    grid->scores = place;
  } else {
    (is_second ? grid->distances : grid->scores) = place;
  }
}

/// Whether the outputs contain exactly this grid's two.
bool complete(const Found& found, Grid* grid) {
  for (std::size_t i = 0; i < found.outputs.size(); ++i) {
    const TensorView& output = found.outputs[i];
    if (!is_float(output) || !has_shape(output, {1, grid->cells, 0})) continue;
    if (grid->distances >= 0) return false;
    add(found, static_cast<int>(i), grid);
  }
  return grid->distances >= 0 &&
         has_distances(found.outputs[static_cast<std::size_t>(grid->distances)]);
}

/// Empty where the outputs do not fit.
std::vector<Grid> grids_of(const Found& found) {
  if (found.outputs.size() != 2 * kStrides.size() || found.input.width == 0) return {};
  std::vector<Grid> grids;
  for (const std::uint32_t stride : kStrides) {
    Grid grid = grid_of(stride, found.input);
    if (!complete(found, &grid)) return {};
    grids.push_back(grid);
  }
  return grids;
}

std::size_t classes_of(const Found& found, const Grid& grid) {
  return found.outputs[static_cast<std::size_t>(grid.scores)].dims[2];
}

std::string refusal(const Found& found) {
  const std::vector<Grid> grids = grids_of(found);
  if (grids.empty()) return kOtherTensors;
  const std::size_t classes = classes_of(found, grids.front());
  const bool is_same = std::all_of(grids.begin(), grids.end(), [&](const Grid& grid) {
    return classes_of(found, grid) == classes;
  });
  if (!is_same) return "has other numbers of classes in each grid";
  const std::size_t labels = found.card.labels.size();
  if (labels == 0 || labels == classes) return "";
  return "has " + std::to_string(classes) + " classes, but there are " + std::to_string(labels) +
         " labels: give one for each, also for those that are not used";
}

class PicoDetDecoder : public Decoder {
 public:
  explicit PicoDetDecoder(const Found& found)
      : grids_(grids_of(found)), made_for_(found.outputs.begin(), found.outputs.end()) {}

  Family family() const override { return Family::kPicoDet; }
  void decode(std::span<const TensorView> outputs, const npu::FrameGeometry& geometry,
              FrameSize frame, const DecodeOptions& options, Answer* answer) override;

 private:
  void read(std::span<const TensorView> outputs, const Grid& grid);
  void add_cell(const Grid& grid, std::size_t cell, std::size_t index, float threshold);
  bool place(const Grid& grid, std::size_t cell, Edges* edges) const;

  std::vector<Grid> grids_;
  std::vector<TensorView> made_for_;
  std::vector<float> scores_, distances_;  // one grid's, cell after cell
  std::size_t classes_ = 0;
  Boxes boxes_;
};

void PicoDetDecoder::decode(std::span<const TensorView> outputs, const npu::FrameGeometry& geometry,
                            FrameSize frame, const DecodeOptions& options, Answer* answer) {
  answer->clear();
  boxes_.begin(geometry, frame);
  std::size_t before = 0;
  for (const Grid& grid : grids_) {
    read(outputs, grid);
    for (std::size_t cell = 0; cell < grid.cells; ++cell) {
      add_cell(grid, cell, before + cell, options.confidence_threshold);
    }
    before += grid.cells;
  }
  boxes_.choose(options, true);
  boxes_.give(answer);
}

void PicoDetDecoder::read(std::span<const TensorView> outputs, const Grid& grid) {
  const auto scores = static_cast<std::size_t>(grid.scores);
  const auto distances = static_cast<std::size_t>(grid.distances);
  check_memory(outputs[scores], made_for_[scores]);
  check_memory(outputs[distances], made_for_[distances]);
  read_all(outputs[scores], &scores_);
  read_all(outputs[distances], &distances_);
  classes_ = made_for_[scores].dims[2];
}

// Each class above the threshold is an object of its own.
void PicoDetDecoder::add_cell(const Grid& grid, std::size_t cell, std::size_t index,
                              float threshold) {
  const auto scores = std::span(scores_).subspan(cell * classes_, classes_);
  for (std::size_t label = 0; label < classes_; ++label) {
    const float score = scores[label];
    if (!(score >= threshold) || !std::isfinite(score)) continue;
    Edges edges;
    if (!place(grid, cell, &edges)) return;
    boxes_.add(edges, probability(score), static_cast<std::uint32_t>(label),
               index * classes_ + label);
  }
}

/// Places the edges at the means of their distributions, from the middle of the cell. False where a
/// value is not finite.
bool PicoDetDecoder::place(const Grid& grid, std::size_t cell, Edges* edges) const {
  std::array<double, kEdges> away{};
  for (std::size_t edge = 0; edge < kEdges; ++edge) {
    const auto bins = std::span(distances_).subspan((cell * kEdges + edge) * kBins, kBins);
    if (!are_finite(bins)) return false;
    const double largest = *std::max_element(bins.begin(), bins.end());
    double sum = 0, weighted = 0;
    for (std::size_t bin = 0; bin < kBins; ++bin) {
      const double share = std::exp(bins[bin] - largest);
      sum += share;
      weighted += share * static_cast<double>(bin);
    }
    away.at(edge) = weighted / sum * grid.stride;
  }
  const std::size_t column = cell % grid.columns, row = cell / grid.columns;
  const double x = (static_cast<double>(column) + 0.5) * grid.stride;
  const double y = (static_cast<double>(row) + 0.5) * grid.stride;
  *edges = {x - away[0], y - away[1], x + away[2], y + away[3]};
  return true;
}

std::unique_ptr<Decoder> make(const Found& found) {
  return std::make_unique<PicoDetDecoder>(found);
}

constexpr std::array kTasks{Task::kDetect};

}  // namespace

const Contract kPicoDetContract{
    Family::kPicoDet, kTasks,
    "[1, cells, classes] and [1, cells, 32] for the cells of 8, 16, 32 and 64 pixels", refusal,
    make};

}  // namespace npu::vision
