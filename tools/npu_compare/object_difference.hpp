#pragma once

#include <npuvision/answer.hpp>

/// One of an answer's objects.
struct ObjectOf {
  const npu::vision::Answer& answer;
  std::size_t index;

  const npu::vision::Object& object() const { return answer.objects[index]; }
};

/// Intersection over union of their upright bounding boxes.
double overlap(const npu::vision::Object& one, const npu::vision::Object& other);

/// The largest distance between edges, corners of oriented boxes, or key points, in frame pixels.
/// Compares a corner with the nearest one, because a box has no first corner.
double largest_shift(const ObjectOf& one, const ObjectOf& other);

/// The largest difference of their confidences and of those of their key points; 0..1.
double largest_score_difference(const ObjectOf& one, const ObjectOf& other);

/// Intersection over union of the masks, in frame pixels; 1 if neither has a mask or a pixel in it,
/// 0 if only one has none.
double mask_overlap(const ObjectOf& one, const ObjectOf& other);
