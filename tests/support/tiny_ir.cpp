#include "support/tiny_ir.hpp"

namespace npu::test {
namespace {

/// A model with the image input, or of it alone.
struct Picture : IrWriter {
  explicit Picture(int height, int width, int channels = 3)
      : IrWriter("tiny"),
        image(parameter("image", "f32", {1, channels, height, width}, "[N,C,H,W]")) {}
  std::string ending_with(const IrValue& value) {
    result(value, "pixels");
    return xml();
  }
  IrValue image;
};

}  // namespace

std::string pixels_ir(int height, int width) {
  Picture ir(height, width);
  return ir.ending_with(ir.image);
}

std::string packed_ir(int height, int width) {
  IrWriter ir("tiny");
  ir.result(ir.parameter("image", "u8", {1, height, width, 3}), "pixels");
  return ir.xml();
}

std::string grey_ir(int height, int width) {
  Picture ir(height, width, 1);
  return ir.ending_with(ir.image);
}

std::string dynamic_ir(int width) {
  return pixels_ir(-1, width);
}

std::string even_ir() {
  Picture ir(-1, -1);
  ir.result(ir.image, "pixels");
  return ir.ending_with(ir.layer("SpaceToDepth", {ir.image},
                                 {.name = "blocks",
                                  .data = "mode=\"blocks_first\" block_size=\"2\"",
                                  .shape = IrShape{1, 12, -1, -1}}));
}

std::string sized_ir(int width) {
  Picture ir(-1, width);
  const auto sizes = ir.parameter("orig_target_sizes", "i64", {1, 2});
  ir.result(ir.image, "pixels");
  return ir.ending_with(ir.layer(
      "Convert", {sizes}, {.name = "sizes", .data = "destination_type=\"f32\"", .type = "f32"}));
}

std::string unknown_operator_ir(int height, int width) {
  Picture ir(height, width);
  return ir.ending_with(ir.layer("Frobnicate", {ir.image}, {.name = "odd"}));
}

std::string weighted_ir(int height, int width) {
  Picture ir(height, width);
  const auto number = ir.constant_at("number", "f32", {}, 0, 4);
  return ir.ending_with(ir.binary("Add", ir.image, number, "sum"));
}

}  // namespace npu::test
