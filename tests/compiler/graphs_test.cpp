// Whether Intel's compiler takes every graph that npucore makes: NPUCORE_COMPILER_LIBRARY is the
// library. A sample runs by itself; NPU_COMPILER_GRAPHS=all takes every one.
#include <gtest/gtest.h>

#include <cstdlib>
#include <set>
#include <string>
#include <vector>

#include <npucore/compiler.hpp>
#include <npucore/error.hpp>

#include "compile/library_client.hpp"
#include "ir/ir_files.hpp"
#include "ze/platforms.hpp"

#include "intels_compiler.hpp"

namespace npu::test {
namespace {

using internal::LibraryClient;

struct InputType {
  const char* name;
  const char* element;
  bool channels_last;
};

constexpr InputType kTypes[] = {{"f32", "f32", false}, {"f16", "f16", false},
                                {"u8", "u8", false},   {"u8_nhwc", "u8", true},
                                {"i8", "i8", false},   {"f32_nhwc", "f32", true}};

/// One of all combinations, by its number.
struct Graph {
  explicit Graph(std::size_t number) : rest_(number) {
    const auto formats = pixel_formats();
    platform = kPlatforms[next(std::size(kPlatforms))];
    format = formats[next(formats.size())];
    type = kTypes[next(std::size(kTypes))];
    odd = next(2) == 1;
    padding = next(3);
    crop = next(2) == 1;
    letterbox = next(2) == 1;
    other_colour = next(2) == 1;
    exists = rest_ == 0;
  }

  std::string name() const {
    std::string words = std::string(platform) + '_' + to_string(format) + '_' + type.name;
    words += odd ? "_odd" : "_even";
    words += padding == 0 ? "" : padding == 1 ? "_pitch" : "_rows";
    return words + (crop ? "_crop" : "") + (letterbox ? "_letterbox" : "_stretch") +
           (other_colour ? "_bt2020_full" : "");
  }

  FrameLayout frame() const {
    FrameLayout layout = FrameLayout::tight(format, odd ? 63 : 96, odd ? 35 : 54);
    layout.crop_left = crop ? 3 : 0;
    layout.crop_top = crop ? 5 : 0;
    const auto shapes = plane_shapes(format);
    for (std::size_t i = 0; i < shapes.size(); ++i) {
      auto& plane = layout.planes[i];
      plane.rows = shapes[i].rows(layout.crop_top, layout.height) + (crop ? layout.crop_top : 0);
      plane.stride_bytes = (shapes[i].columns(layout.crop_left, layout.width) + layout.crop_left) *
                           shapes[i].sample_bytes;
      plane.stride_bytes += padding == 1 ? 64 - plane.stride_bytes % 64 : 0;
      plane.rows += padding == 2 ? 6 : 0;
    }
    if (other_colour) {
      layout.matrix = ColorMatrix::kBT2020;
      layout.range = ColorRange::kFull;
    }
    return layout;
  }

  Model model() const {
    const TempDir dir;
    const std::vector<int> shape =
        type.channels_last ? std::vector<int>{1, 32, 32, 3} : std::vector<int>{1, 3, 32, 32};
    Model made = Model::read(dir.write(
        "m.xml", identity_ir(type.element, shape, type.channels_last ? "[N,H,W,C]" : "[N,C,H,W]")));
    Preprocess preprocess = made.default_preprocess(frame());
    if (type.element == std::string("i8")) {
      preprocess.mean = {128};
    }
    preprocess.resize = letterbox ? ResizeMode::kLetterbox : ResizeMode::kStretch;
    made.add_preprocess(preprocess);
    return made;
  }

  const char* platform;
  PixelFormat format;
  InputType type;
  bool odd, crop, letterbox, other_colour;
  std::size_t padding;  ///< 0: none, 1: of the rows' ends, 2: of the rows' number
  bool exists;          ///< whether the number is one of a graph

 private:
  std::size_t next(std::size_t count) {
    const std::size_t digit = rest_ % count;
    rest_ /= count;
    return digit;
  }
  std::size_t rest_;
};

/// Every graph, or each so many, which then has every value of every kind.
std::vector<std::size_t> numbers() {
  constexpr std::size_t kOneOf = 97;
  const std::size_t step = all_wanted() ? 1 : kOneOf;
  std::vector<std::size_t> all;
  for (std::size_t number = 0; Graph(number).exists; number += step) all.push_back(number);
  return all;
}

class Graphs : public ::testing::TestWithParam<std::size_t> {};

TEST_P(Graphs, AreTaken) {
  const Graph graph(GetParam());
  EXPECT_EQ(refusal_of(graph.platform, graph.model()), "") << graph.frame().describe();
}

INSTANTIATE_TEST_SUITE_P(All, Graphs, ::testing::ValuesIn(numbers()),
                         [](const auto& test) { return Graph(test.param).name(); });

class Platforms : public ::testing::TestWithParam<const char*> {};
INSTANTIATE_TEST_SUITE_P(All, Platforms, ::testing::ValuesIn(kPlatforms),
                         [](const auto& test) { return std::string(test.param); });

/// Weights by address and weights that are copied; compilers make the same of both.
TEST_P(Platforms, MakeTheSameBlobOfBothSerialisations) {
  const Model model = Model::read(std::getenv("SHAPES_XML"));
  const auto copied = compile(GetParam(), model, Serializer::kAllWeightsCopy);
  const auto by_address = compile(GetParam(), model, Serializer::kNoWeightsCopy);
  EXPECT_TRUE(std::ranges::equal(copied.blob.bytes(), by_address.blob.bytes()));
}

TEST_P(Platforms, TakeStridesWhereTheySayThatTheyDo) {
  Model model = Model::read(std::getenv("SHAPES_XML"));
  model.add_preprocess(model.default_preprocess(FrameLayout::tight(PixelFormat::kNV12, 640, 360)));
  std::string names;
  for (const auto& name : model.frame_input()->plane_inputs) {
    names += (names.empty() ? "" : ",") + name;
  }
  const bool takes =
      library_for(GetParam()).takes("NPU_ENABLE_STRIDES_FOR", nullptr).value_or(false);
  EXPECT_EQ(takes, GetParam() != std::string("3720"));
  const std::string refusal = refusal_of(GetParam(), model, {{"NPU_ENABLE_STRIDES_FOR", names}});
  EXPECT_EQ(refusal.empty(), takes) << refusal;
}

/// Which options a compiler takes is asked of it; these are the ones that our tables rely on.
TEST_P(Platforms, TakeTheOptionsOfOurTable) {
  for (const PropertyInfo& info : known_properties()) {
    if (!info.compile_time) continue;
    const bool no_strides =
        info.name == "NPU_ENABLE_STRIDES_FOR" && GetParam() == std::string("3720");
    EXPECT_EQ(library_for(GetParam()).takes(info.name.c_str(), nullptr), !no_strides) << info.name;
  }
}

/// The software NPU as the same compiler of the same platform.
TEST_P(Platforms, TakeTheOptionsThatTheSoftwareNpuTakes) {
  ::setenv("SOFTNPU_PLATFORM", GetParam(), 1);
  ::setenv("SOFTNPU_COMPILER_VERSION", "8.4", 1);
  const auto& known = *ze::known_platform(GetParam());
  LibraryClient software({std::getenv("SOFTNPU_LIBRARY"), std::nullopt, true},
                         {known.pciDeviceIds[0], known.numTiles}, nullptr);
  LibraryClient& intels = library_for(GetParam());
  std::set<std::string> names = {"NO_SUCH_OPTION", "MODEL_PRIORITY", "CACHE_DIR"};
  for (const auto* library : {&software, &intels}) {
    names.insert(library->facts().options.begin(), library->facts().options.end());
  }
  for (const auto& name : names) {
    EXPECT_EQ(software.takes(name.c_str(), nullptr), intels.takes(name.c_str(), nullptr)) << name;
  }
}

TEST_P(Platforms, BlobsTellWhatTheyAreFor) {
  const TempDir dir;
  const auto blob = compile_for({GetParam()}, Model::read(std::getenv("SHAPES_XML")));
  ASSERT_TRUE(blob.estimate);
  EXPECT_GT(blob.estimate->latency_us, 0);
  EXPECT_GT(blob.estimate->frequency_mhz, 0);
  const auto path = dir.path() / "m.blob";
  write_output(path, blob.file);
  const BlobInfo info = read_blob_info(path);
  EXPECT_EQ(info.platform, GetParam());
  EXPECT_NE(info.elf, Version{});
  EXPECT_NE(info.runtime, Version{});
  // The ELF alone says the same.
  write_output(path, std::span(blob.file).first(blob.native_bytes));
  EXPECT_EQ(read_blob_info(path).platform, GetParam());
}

std::set<std::string> left_out(const char* platform, const Model& model) {
  const auto blob = compile_for({platform}, model);
  if (!blob.estimate) throw std::runtime_error("no estimate");
  return {blob.estimate->left_out.begin(), blob.estimate->left_out.end()};
}

/// Operators that the estimate leaves out run on processors that it does not count: frames must add
/// none.
TEST_P(Platforms, ReckonWithAllThatFramesNeed) {
  const Model alone = Model::read(std::getenv("SHAPES_XML"));
  auto known = left_out(GetParam(), alone);
  known.insert("cache_prefetch");  // the compiler's own, of instructions
  for (const auto resize : {ResizeMode::kStretch, ResizeMode::kLetterbox}) {
    Model model = alone;
    Preprocess preprocess =
        model.default_preprocess(FrameLayout::tight(PixelFormat::kNV12, 1920, 1080));
    preprocess.resize = resize;
    model.add_preprocess(preprocess);
    for (const auto& name : left_out(GetParam(), model)) EXPECT_EQ(known.count(name), 1U) << name;
  }
}

/// OpenVINO's operator would be computed with the matrix of BT.601, whatever the stream has.
TEST_P(Platforms, FindNoColourOperatorToReplaceMatrices) {
  Model model = Model::read(std::getenv("SHAPES_XML"));
  model.add_preprocess(model.default_preprocess(FrameLayout::tight(PixelFormat::kNV12, 640, 360)));
  const std::size_t before = library_for(GetParam()).printed().size();
  compile(GetParam(), model, Serializer::kAuto, {{"LOG_LEVEL", "LOG_DEBUG"}});
  const std::string printed = library_for(GetParam()).printed().substr(before);
  EXPECT_TRUE(has(printed, "Convolution"));
  EXPECT_FALSE(has(printed, "YuvToRgb"));
}

}  // namespace
}  // namespace npu::test
