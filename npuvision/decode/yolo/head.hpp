// Values that a YOLO tensor has for each box, derived from card and shape.
#pragma once

#include <cstddef>
#include <optional>
#include <string>

#include "../contract.hpp"

namespace npu::vision {

/// A raw head has for each box: centre x, centre y, width, height in model pixels; a score for each
/// class; then the task's values: mask coefficients, key points (x, y in model pixels, visibility)
/// or an angle in radians. An end-to-end head has left, top, right, bottom in model pixels
/// (oriented boxes: centre and size), score, class, and the task's values. A head with objectness
/// has centre and size as a raw one, the objectness, a factor for each class, and mask
/// coefficients.
/// https://github.com/ultralytics/ultralytics/blob/main/ultralytics/nn/modules/head.py
/// https://github.com/ultralytics/yolov5/blob/master/models/yolo.py
struct YoloHead {
  static constexpr std::size_t kBoxValues = 4;
  static constexpr std::size_t kEndToEndValues = kBoxValues + 2;
  static constexpr std::size_t kObjectness = kBoxValues;
  static constexpr std::size_t kFirstFactor = kObjectness + 1;  ///< after objectness

  Task task = Task::kDetect;
  std::size_t output = 0;             ///< index of the output with the boxes
  std::optional<std::size_t> protos;  ///< the masks' [1, coefficients, height, width]
  bool channels_first = false;        ///< [1, values, boxes]
  std::size_t boxes = 0, values = 0;
  std::size_t classes = 0;  ///< 0: not known
  std::size_t mask_coefficients = 0;
  std::size_t key_points = 0, key_point_values = 0;

  std::size_t first_extra() const { return values - extras(); }
  std::size_t extras() const;
};

/// A head, or the reason why the outputs have none.
struct YoloReading {
  YoloHead head;
  std::string refusal;
};

YoloReading read_raw_head(const Found& found);
YoloReading read_end_to_end_head(const Found& found);
/// Reads a head with objectness for `family`, but does not check the number of boxes.
YoloReading read_objectness_head(const Found& found, Family family);
/// Reads a head whose last step the card leaves to the host: a raw head's values for each box, but
/// with the first four as end to end.
YoloReading read_host_head(const Found& found);

}  // namespace npu::vision
