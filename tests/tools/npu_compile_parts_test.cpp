#include <gtest/gtest.h>
#include <unistd.h>

#include <fstream>
#include <sstream>

#include <npucore/error.hpp>

#include "frame_spec.hpp"
#include "ir_files.hpp"
#include "model_info_file.hpp"

namespace {

using npu::FrameLayout;
using npu::PixelFormat;
using npu::PlaneLayout;

TEST(FrameSpecTest, AFrameWithoutMoreIsTight) {
  auto tight = FrameLayout::tight(PixelFormat::kNV12, 1920, 1080);
  tight.matrix = npu::ColorMatrix::kBT709;
  EXPECT_EQ(parse_frame_spec("NV12:1920x1080"), tight);
}

struct Planes {
  const char* spec;
  std::vector<PlaneLayout> expected;
};

void PrintTo(const Planes& row, std::ostream* out) {
  *out << row.spec;
}

class PlanesTest : public testing::TestWithParam<Planes> {};

TEST_P(PlanesTest, FollowTheSpec) {
  EXPECT_EQ(parse_frame_spec(GetParam().spec).planes, GetParam().expected);
}

INSTANTIATE_TEST_SUITE_P(
    Table, PlanesTest,
    testing::Values(Planes{"NV12:1920x1080:stride=2048", {{2048, 1080}, {2048, 540}}},
                    Planes{"NV12:1920x1080:stride=2048:rows=1088", {{2048, 1088}, {2048, 544}}},
                    Planes{"NV12:1920x1080:rows=1088,560:stride=2048,1920",
                           {{2048, 1088}, {1920, 560}}},
                    Planes{"I420:639x479", {{639, 479}, {320, 240}, {320, 240}}},
                    Planes{"I420:639x479:stride=640", {{640, 479}, {320, 240}, {320, 240}}},
                    Planes{"I420:638x478:stride=640,384,320", {{640, 478}, {384, 239}, {320, 239}}},
                    Planes{"NV21:639x479:stride=640", {{640, 479}, {640, 240}}},
                    Planes{"YV12:639x479:stride=640", {{640, 479}, {320, 240}, {320, 240}}},
                    Planes{"NV16:639x479:stride=640", {{640, 479}, {640, 479}}},
                    Planes{"YUY2:639x479", {{1280, 479}}},
                    Planes{"YUY2:639x479:stride=1536:rows=480", {{1536, 480}}},
                    Planes{"UYVY:639x479", {{1280, 479}}},
                    Planes{"GRAY16_LE:639x479:stride=1280", {{1280, 479}}},
                    Planes{"ARGB:639x479:stride=2560", {{2560, 479}}},
                    Planes{"P010_10LE:640x480:stride=1536:rows=512", {{1536, 512}, {1536, 256}}},
                    Planes{"RGB:641x480:stride=1924", {{1924, 480}}},
                    Planes{"BGRx:640x480:rows=512", {{2560, 512}}},
                    Planes{"NV12:1920x1080:crop=8,4:stride=2048", {{2048, 1084}, {2048, 542}}}));

TEST(FrameSpecTest, TakesACrop) {
  const auto frame = parse_frame_spec("GRAY8:100x50:crop=3,5");
  EXPECT_EQ(frame.crop_left, 3U);
  EXPECT_EQ(frame.crop_top, 5U);
  EXPECT_EQ(frame.width, 100U);
  EXPECT_EQ(frame.height, 50U);
}

TEST(FrameSpecTest, AssumesWhatGStreamerAssumes) {
  EXPECT_EQ(parse_frame_spec("NV12:720x576").matrix, npu::ColorMatrix::kBT601);
  EXPECT_EQ(parse_frame_spec("NV12:1280x720").matrix, npu::ColorMatrix::kBT709);
  EXPECT_EQ(parse_frame_spec("I420:1280x720").range, npu::ColorRange::kLimited);
  EXPECT_EQ(parse_frame_spec("GRAY8:1280x720").range, npu::ColorRange::kFull);
  EXPECT_EQ(parse_frame_spec("GRAY16_LE:1280x720").range, npu::ColorRange::kFull);
}

class BadSpecTest : public testing::TestWithParam<const char*> {};

TEST_P(BadSpecTest, IsRefused) {
  EXPECT_THROW(parse_frame_spec(GetParam()), npu::Error);
}

INSTANTIATE_TEST_SUITE_P(
    Table, BadSpecTest,
    testing::Values("", "NV12", "NV12:", "NV12:1920", "NV12:1920x", "NV12:x1080",
                    "NV12:1920x1080x3", "NV12:-1x5", "P010:64x64", "NV12:0x10",
                    "NV12:64x64:", "NV12:64x64:stride", "NV12:64x64:stride=", "NV12:64x64:stride=x",
                    "NV12:64x64:stride=32", "NV12:64x64:stride=64,64,64", "NV12:64x64:rows=10",
                    "NV12:64x64:crop=2", "NV12:64x64:crop=1,1:stride=64", "NV12:64x64:pitch=64",
                    "NV12:64x64:stride=99999999999"));

TEST(NumbersTest, AreReadWithCommas) {
  EXPECT_EQ(parse_numbers("--mean", "123.5,1e2,-3"), (std::vector<float>{123.5F, 100, -3}));
  EXPECT_EQ(parse_numbers("--mean", "255"), (std::vector<float>{255}));
}

TEST(NumbersTest, OthersAreRefusedByTheOptionsName) {
  for (const auto* bad : {"", "1,", "one", "1;2", "1 2"}) {
    try {
      parse_numbers("--mean", bad);
      FAIL() << bad;
    } catch (const npu::Error& error) {
      EXPECT_EQ(std::string(error.what()).find("--mean"), 0U) << error.what();
    }
  }
}

std::string text_of(const std::filesystem::path& path) {
  std::ostringstream text;
  text << std::ifstream(path).rdbuf();
  return text.str();
}

TEST(ModelInfoFileTest, IsCopiedBesideTheBlob) {
  const npu::test::TempDir models, blobs;
  models.write("m.modelinfo", "[modelinfo]");
  const auto copied = copy_model_info(models.path() / "m.xml", blobs.path() / "other.blob");
  EXPECT_EQ(copied, blobs.path() / "other.modelinfo");
  EXPECT_EQ(text_of(blobs.path() / "other.modelinfo"), "[modelinfo]");
}

TEST(ModelInfoFileTest, TheOneWithTheModelsWholeNameWins) {
  const npu::test::TempDir models, blobs;
  models.write("m.modelinfo", "second");
  models.write("m.xml.modelinfo", "first");
  copy_model_info(models.path() / "m.xml", blobs.path() / "m.blob");
  EXPECT_EQ(text_of(blobs.path() / "m.modelinfo"), "first");
}

TEST(ModelInfoFileTest, StaysWhereTheBlobFindsItAnyway) {
  const npu::test::TempDir dir;
  dir.write("m.modelinfo", "same");
  EXPECT_FALSE(copy_model_info(dir.path() / "m.xml", dir.path() / "m.blob"));
  EXPECT_EQ(text_of(dir.path() / "m.modelinfo"), "same");
}

TEST(ModelInfoFileTest, NoneIsNoError) {
  const npu::test::TempDir dir;
  EXPECT_FALSE(copy_model_info(dir.path() / "m.xml", dir.path() / "m.blob"));
  EXPECT_TRUE(std::filesystem::is_empty(dir.path()));
}

TEST(ModelInfoFileTest, DoesNotFollowLinksOfOthers) {
  const npu::test::TempDir models, blobs;
  models.write("m.modelinfo", "[modelinfo]");
  const auto victim = models.write("victim", "precious");
  const auto predictable = "m.modelinfo." + std::to_string(::getpid()) + ".tmp";
  std::filesystem::create_symlink(victim, blobs.path() / predictable);
  copy_model_info(models.path() / "m.xml", blobs.path() / "m.blob");
  EXPECT_EQ(text_of(victim), "precious");
  EXPECT_EQ(text_of(blobs.path() / "m.modelinfo"), "[modelinfo]");
}

TEST(ModelInfoFileTest, NeverReplacesTheBlob) {
  const npu::test::TempDir dir;
  dir.write("m.modelinfo", "text");
  EXPECT_FALSE(copy_model_info(dir.path() / "m.xml", dir.path() / "blob.modelinfo"));
}

TEST(ModelInfoFileTest, AFailureLeavesNothing) {
  const npu::test::TempDir dir;
  dir.write("m.modelinfo", "text");
  std::filesystem::create_directories(dir.path() / "out.modelinfo" / "full");
  EXPECT_THROW(copy_model_info(dir.path() / "m.xml", dir.path() / "out.blob"), npu::Error);
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(dir.path()), {}), 2);
}

}  // namespace
