#pragma once

#include <npuvision/answer.hpp>

/// One of an answer's objects.
struct ObjectOf {
  const npu::vision::Answer& answer;
  std::size_t index;

  const npu::vision::Object& object() const { return answer.objects[index]; }
};

/// Intersection over union of what surrounds them upright.
double overlap(const npu::vision::Object& one, const npu::vision::Object& other);

/// How far edges, corners of oriented boxes, or key points are from each other at most; frame
/// pixels. A corner is compared with the nearest one: a box has no first.
double largest_shift(const ObjectOf& one, const ObjectOf& other);

/// How far their confidences, and those of their key points, are from each other at most; 0..1.
double largest_score_difference(const ObjectOf& one, const ObjectOf& other);

/// Intersection over union of the masks, in frame pixels; 1 where neither has one, or a pixel of
/// one, and 0 where one has none.
double mask_overlap(const ObjectOf& one, const ObjectOf& other);
