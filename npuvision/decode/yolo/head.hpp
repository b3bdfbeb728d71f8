// What a YOLO tensor has for each box, as card and shape tell it.
#pragma once

#include <cstddef>
#include <optional>
#include <string>

#include "../contract.hpp"

namespace npu::vision {

/// Raw, each box has: centre x, centre y, width, height in model pixels; a score for each class;
/// then what the task adds: mask coefficients, key points (x, y in model pixels, whether it is
/// visible) or an angle in radians. End to end: left, top, right, bottom in model pixels (oriented
/// boxes: centre and size), score, class, and then the same. With objectness: centre and size as
/// raw, whether there is an object, a factor for each class, and mask coefficients.
/// https://github.com/ultralytics/ultralytics/blob/main/ultralytics/nn/modules/head.py
/// https://github.com/ultralytics/yolov5/blob/master/models/yolo.py
struct YoloHead {
  static constexpr std::size_t kBoxValues = 4;
  static constexpr std::size_t kEndToEndValues = kBoxValues + 2;
  static constexpr std::size_t kObjectness = kBoxValues;
  static constexpr std::size_t kFirstFactor = kObjectness + 1;  ///< after objectness

  Task task = Task::kDetect;
  std::size_t output = 0;             ///< with the boxes, of the model's outputs
  std::optional<std::size_t> protos;  ///< [1, coefficients, height, width] of the masks
  bool channels_first = false;        ///< [1, values, boxes]
  std::size_t boxes = 0, values = 0;
  std::size_t classes = 0;  ///< 0: not known
  std::size_t mask_coefficients = 0;
  std::size_t key_points = 0, key_point_values = 0;

  std::size_t first_extra() const { return values - extras(); }
  std::size_t extras() const;
};

/// A head, or why the outputs are none.
struct YoloReading {
  YoloHead head;
  std::string refusal;
};

YoloReading read_raw_head(const Found& found);
YoloReading read_end_to_end_head(const Found& found);
/// What `family`, which has objectness, asks of its outputs, but for the number of boxes.
YoloReading read_objectness_head(const Found& found, Family family);
/// End to end, but for what the card says that the host does: the tensor has a raw head's values
/// for each box, of which the first four are as end to end.
YoloReading read_host_head(const Found& found);

/// Cells of grids with steps of 8, 16 and 32 pixels; 0 where the input is not known.
std::size_t grid_cells(InputSize input);
/// Whether a detector with so many boxes for each cell has these: of the grids above, with one of
/// 64 or of 4 pixels or without.
bool are_grid_cells(std::size_t boxes, InputSize input, std::size_t anchors_per_cell = 1);

}  // namespace npu::vision
