#include "cut_model.hpp"

#include <algorithm>
#include <cstring>

namespace npu::test {

Bytes bytes_of(const std::vector<float>& values) {
  Bytes bytes(values.size() * sizeof(float));
  std::memcpy(bytes.data(), values.data(), bytes.size());
  return bytes;
}

bool has_layer(const Model& model, const std::string& type) {
  const auto layers = model.layers();
  return std::any_of(layers.begin(), layers.end(),
                     [&](const Layer& layer) { return layer.type == type; });
}

vision::Answer decoded(const Model& model, const std::vector<double>& raw,
                       std::uint32_t key_points) {
  auto card = vision::read_model_card("/nowhere/model.xml", model.model_info());
  card.task = key_points > 0 ? vision::Task::kPose : vision::Task::kDetect;
  card.key_points = key_points;
  card.key_point_values = key_points > 0 ? 3 : 0;
  const std::vector<float> values(raw.begin(), raw.end());
  vision::TensorView view{.name = "output0", .type = ElementType::kF32, .rank = 3};
  const Shape& shape = model.outputs()[0].shape;
  std::size_t bytes = sizeof(float);
  for (std::size_t i = 3; i-- > 0;) {
    view.dims[i] = static_cast<std::size_t>(shape[i]);
    view.strides_bytes[i] = bytes;
    bytes *= view.dims[i];
  }
  view.data = reinterpret_cast<const std::byte*>(values.data());
  view.size_bytes = values.size() * sizeof(float);
  vision::Answer answer;
  const auto decoder = vision::make_decoder(card, {&view, 1}, {640, 640});
  decoder->decode({&view, 1}, {}, {4096, 4096}, {.confidence_threshold = 0}, &answer);
  return answer;
}

}  // namespace npu::test
