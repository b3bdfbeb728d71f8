// npuimport with blobs that do not describe their frames.
#include <gtest/gtest.h>

#include <npucore/error.hpp>

#include "graphs/graph_source.hpp"
#include "support/expect.hpp"

namespace gstnpu {
namespace {

npu::Port port(const char* name, npu::ElementType type, npu::Shape shape) {
  npu::Port made;
  made.name = name;
  made.type = type;
  made.shape = std::move(shape);
  return made;
}

TEST(BlobInput, ThreeChannelsAreRgb) {
  const auto frame =
      derive_frame_input({port("image", npu::ElementType::kU8, {1, 48, 64, 3})}, "m.blob");
  EXPECT_EQ(frame.preprocess.frame, npu::FrameLayout::tight(npu::PixelFormat::kRGB, 64, 48));
  EXPECT_EQ(frame.plane_inputs, std::vector<std::string>{"image"});
  EXPECT_EQ(frame.geometry.model_width, 64u);
}

TEST(BlobInput, OneChannelIsGrey) {
  const auto frame =
      derive_frame_input({port("image", npu::ElementType::kU8, {1, 48, 64, 1})}, "m.blob");
  EXPECT_EQ(frame.preprocess.frame.format, npu::PixelFormat::kGray8);
}

TEST(BlobInput, PlanesAreNv12InEitherOrder) {
  const auto y = port("image/y", npu::ElementType::kU8, {1, 48, 64, 1});
  const auto uv = port("image/uv", npu::ElementType::kU8, {1, 24, 32, 2});
  const std::vector<std::string> planes = {"image/y", "image/uv"};
  EXPECT_EQ(derive_frame_input({y, uv}, "m.blob").plane_inputs, planes);
  EXPECT_EQ(derive_frame_input({uv, y}, "m.blob").plane_inputs, planes);
}

TEST(BlobInput, OfABatchIsRefusedWithItsNumber) {
  EXPECT_TRUE(
      has(thrown_by([&] {
            derive_frame_input({port("image", npu::ElementType::kU8, {4, 48, 64, 3})}, "m.blob");
          }),
          "batch of 4"));
}

struct Unclear {
  const char* name;
  std::vector<npu::Port> inputs;
};

class UnclearBlobs : public testing::TestWithParam<Unclear> {};

TEST_P(UnclearBlobs, AreRefusedWithWhatToDo) {
  const std::string said = thrown_by([&] { derive_frame_input(GetParam().inputs, "m.blob"); });
  EXPECT_TRUE(has(said, "m.blob"));
  EXPECT_TRUE(has(said, "npu-compile --frame"));
}

INSTANTIATE_TEST_SUITE_P(
    All, UnclearBlobs,
    testing::Values(Unclear{"floats", {port("x", npu::ElementType::kF32, {1, 48, 64, 3})}},
                    Unclear{"channels_first", {port("x", npu::ElementType::kU8, {1, 3, 48, 64})}},
                    Unclear{"planes_that_do_not_fit",
                            {port("x/y", npu::ElementType::kU8, {1, 48, 64, 1}),
                             port("x/uv", npu::ElementType::kU8, {1, 48, 64, 2})}},
                    Unclear{"no_inputs", {}}),
    by_name);

}  // namespace
}  // namespace gstnpu
