#include <npuvision/answer.hpp>

namespace npu::vision {

void Answer::clear() {
  objects.clear();
  key_points_per_object = 0;
  key_points.clear();
  masks.clear();
  mask_pixels.clear();
  classes.clear();
  class_map.values.clear();
  value_map.values.clear();
  anomaly.reset();
  embedding.clear();
  text.clear();
  text_confidence.reset();
  is_undefined = false;
}

}  // namespace npu::vision
