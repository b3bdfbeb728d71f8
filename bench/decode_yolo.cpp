// npuvision's side of decode_yolo.py: decodes a tensor [1, 4 + classes, boxes] of f32 from a file,
// and prints the time of each call and the objects found.
#include <CLI/CLI.hpp>
#include <chrono>
#include <iostream>
#include <nlohmann/json.hpp>
#include <vector>

#include <npuvision/decoder.hpp>

#include "yolo_tensor.hpp"

namespace {

using npu::vision::Answer;
using npu::vision::TensorView;

struct Options {
  std::string file;
  std::size_t classes = 80, boxes = 8400, calls = 100;
  npu::vision::InputSize input{640, 640};
  npu::vision::DecodeOptions decode;
};

TensorView view_of(const std::vector<float>& values, const Options& options) {
  const std::size_t row_bytes = options.boxes * sizeof(float), size_bytes = values.size() * 4;
  return {.name = "output0",
          .type = npu::ElementType::kF32,
          .rank = 3,
          .dims = {1, 4 + options.classes, options.boxes},
          .strides_bytes = {size_bytes, row_bytes, sizeof(float)},
          .data = reinterpret_cast<const std::byte*>(values.data()),
          .size_bytes = size_bytes};
}

nlohmann::json measure(const Options& options) {
  using Milliseconds = std::chrono::duration<double, std::milli>;
  const std::vector<float> values = read_yolo_tensor(options.file, options.classes, options.boxes);
  const std::vector<TensorView> views{view_of(values, options)};
  npu::vision::ModelCard card;
  card.task = npu::vision::Task::kDetect;
  card.labels.assign(options.classes, "thing");
  const auto decoder = npu::vision::make_decoder(card, views, options.input);
  const npu::FrameGeometry geometry{.model_width = options.input.width,
                                    .model_height = options.input.height};
  nlohmann::json line{{"times", nlohmann::json::array()}, {"objects", nlohmann::json::array()}};
  Answer answer;
  for (std::size_t i = 0; i <= options.calls; ++i) {
    const auto begin = std::chrono::steady_clock::now();
    decoder->decode(views, geometry, {options.input.width, options.input.height}, options.decode,
                    &answer);
    const Milliseconds took = std::chrono::steady_clock::now() - begin;
    if (i == 0) continue;  // warm-up
    line["times"].push_back(took.count());
  }
  for (const npu::vision::Object& object : answer.objects) {
    line["objects"].push_back(
        {object.left, object.top, object.right, object.bottom, object.confidence, object.label_id});
  }
  return line;
}

}  // namespace

int main(int argc, char** argv) {
  Options options;
  CLI::App app("Decodes one tensor again and again");
  app.add_option("file", options.file)->required();
  app.add_option("--classes", options.classes);
  app.add_option("--boxes", options.boxes);
  app.add_option("--calls", options.calls);
  app.add_option("--confidence", options.decode.confidence_threshold);
  app.add_option("--iou", options.decode.iou_threshold);
  CLI11_PARSE(app, argc, argv);
  try {
    std::cout << measure(options) << '\n';
  } catch (const std::exception& error) {
    std::cerr << error.what() << '\n';
    return 1;
  }
  return 0;
}
