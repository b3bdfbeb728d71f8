// The meanings of the values at the end of a detector's graph.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <pugixml.hpp>
#include <vector>

#include "ir/graph/document.hpp"
#include "ir/graph/weights.hpp"
#include "ir/graph/whole_numbers.hpp"

namespace npu::ir {

constexpr std::int64_t kBoxValues = 4;  ///< a box's columns

/// One value, whatever its shape: its elements are in the order of its rows, `width` for each.
struct Meaning {
  enum class Kind {
    kOther,
    kRows,        ///< columns of a tensor [1, rows, columns], one row for each box
    kBest,        ///< the highest of these columns in each row
    kBestClass,   ///< the column of that one
    kMask,        ///< whether kBest is above a threshold
    kMaskRows,    ///< the rows where it is: NonZero's places
    kMoved,       ///< boxes times a scale, those of each class moved apart from the others
    kMove,        ///< the distance: the class times an offset
    kPlaces,      ///< 0, 1, 2 ... up to all elements of a tensor
    kBestRows,    ///< the rows with the highest kBest: TopK's places
    kTopPlaces,   ///< TopK's places among the scores of all rows and classes
    kDetScore,    ///< a detection's score,
    kDetClass,    ///< its class,
    kDetRow,      ///< its row among the chosen ones,
    kDetFirst,    ///< that row times the number of classes,
    kDetBox,      ///< its row among all rows,
    kDetValues,   ///< and columns of its row
    kNmsIndices,  ///< NonMaxSuppression's [detections, 3]: batch, class, box
    kNmsScores,   ///< and [detections, 3]: batch, class, score
  };
  Kind kind = Kind::kOther;
  PortRef root;                   ///< the tensor with the rows
  std::int64_t rows = 0;          ///< of the root
  std::int64_t first = 0;         ///< column of the root
  std::int64_t width = 1;         ///< columns; for an index: its repetitions
  PortRef class_root;             ///< for values that come from scores: their tensor,
  std::int64_t class_first = 0;   ///< their first column,
  std::int64_t classes = 0;       ///< and their number
  std::optional<LayerId> chosen;  ///< only the rows that this TopK or NonZero chose, in its order
  double threshold = 0;           ///< for a mask: the best score is above it
  double scale = 1, offset = 0;   ///< for moved boxes: of the boxes, and for each class
  std::optional<std::int64_t> most;  ///< for detections: only so many, the first ones
  LayerId detector = 0;              ///< a detection's maker: a TopK or NonMaxSuppression
  bool is(Kind other) const { return kind == other; }
};

/// Reads meanings backwards from a value. A value that it does not understand is a tensor of rows,
/// if the shape allows it, or kOther.
class Meanings {
 public:
  Meanings(const Document& document, const Weights& weights)
      : document_(document), weights_(weights), numbers_(document, weights) {}

  Meaning of(PortRef value);
  /// The tensor itself as rows.
  Meaning as_rows(PortRef value) const;
  Shape shape_of(PortRef value) const;
  std::optional<PortRef> input(pugi::xml_node layer, std::size_t position) const;
  /// The numbers of a constant, or of a computation on constants and sizes; nothing for more than
  /// 16, or if one is unknown.
  std::optional<std::vector<std::int64_t>> whole_numbers(PortRef value) const;
  std::optional<std::vector<std::int64_t>> whole_numbers(pugi::xml_node layer,
                                                         std::size_t position) const;
  std::optional<double> real_number(pugi::xml_node layer, std::size_t position) const;
  /// Whether a constant of at most `most` zeros feeds it.
  bool are_zeros(PortRef input, std::size_t most) const;

 private:
  using Kind = Meaning::Kind;
  Meaning read(PortRef value);
  Meaning of_input(pugi::xml_node layer, std::size_t position);
  std::optional<std::int64_t> axis_of(pugi::xml_node layer, std::size_t position,
                                      std::size_t rank) const;
  Meaning read_view(pugi::xml_node layer, PortRef value);
  Meaning read_convert(pugi::xml_node layer, PortRef value);
  Meaning read_transpose(pugi::xml_node layer, PortRef value);
  Meaning read_repeat(pugi::xml_node layer, PortRef value);
  Meaning read_split(pugi::xml_node layer, PortRef value);
  Meaning read_reduce_max(pugi::xml_node layer, PortRef value);
  Meaning read_top_k(pugi::xml_node layer, PortRef value);
  Meaning read_gather(pugi::xml_node layer, PortRef value);
  Meaning read_gather_elements(pugi::xml_node layer, PortRef value);
  Meaning read_arithmetic(pugi::xml_node layer, PortRef value);
  Meaning read_nms(pugi::xml_node layer, PortRef value);
  Meaning nms_column(Meaning meaning, std::int64_t column) const;
  std::optional<Meaning> read_only_picture(pugi::xml_node layer);
  Meaning read_gather_nd(pugi::xml_node layer, PortRef value);
  Meaning read_greater(pugi::xml_node layer, PortRef value);
  Meaning read_non_zero(pugi::xml_node layer, PortRef value);
  Meaning read_slice(pugi::xml_node layer, PortRef value);
  Meaning read_range(pugi::xml_node layer, PortRef value);
  Meaning read_best_of_row(pugi::xml_node layer, PortRef value);
  Meaning read_moved(pugi::xml_node layer, PortRef value);
  Meaning read_scaled(pugi::xml_node layer);
  Meaning chosen_by_mask(const Meaning& index, Meaning values) const;
  Meaning chosen_by(const Meaning& index, PortRef data);
  bool is_zero(pugi::xml_node layer, std::size_t position) const;
  Meaning read_correction(pugi::xml_node layer);
  Meaning read_select(pugi::xml_node layer, PortRef value);
  bool is_always_false(pugi::xml_node layer, std::size_t position, int steps);
  bool is_never_negative(pugi::xml_node layer);
  bool is_false_constant(pugi::xml_node layer) const;

  const Document& document_;
  const Weights& weights_;
  WholeNumberReader numbers_;
  std::map<PortRef, Meaning> known_;
  std::size_t depth_ = 0;
};

}  // namespace npu::ir
