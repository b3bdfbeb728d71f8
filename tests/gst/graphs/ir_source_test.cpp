// The graphs of an IR, which several streams may ask for at the same time.
#include <gtest/gtest.h>

#include <set>
#include <string>
#include <vector>

#include <npucore/npucore.hpp>

#include "graphs/graph.hpp"
#include "graphs/graph_source.hpp"
#include "support/expect.hpp"
#include "support/software_npu.hpp"
#include "support/temp_dir.hpp"
#include "support/tiny_ir.hpp"

namespace gstnpu {
namespace {

using namespace std::chrono_literals;

class IrSourceTest : public testing::Test {
 protected:
  IrSourceTest() {
    Settings settings;
    settings.model = dir_.write("pixels.xml", npu::test::pixels_ir(8, 8)).string();
    settings.device = "software";
    settings.properties = "NPUCORE_COMPILE=in-process";
    source_ = open_ir(npu::Device::open(npu::DeviceKind::kSoftware), settings);
  }
  static npu::FrameLayout frames_of(std::uint32_t side) {
    return npu::FrameLayout::tight(npu::PixelFormat::kRGB, side, side);
  }
  static npu::FrameLayout padded_frames_of(std::uint32_t side) {
    npu::FrameLayout layout = frames_of(side);
    layout.planes[0].stride_bytes += 64;
    return layout;
  }
  static std::shared_ptr<Graph> graph_of(Compilation& compilation) {
    while (!compilation.wait(1s)) {
    }
    return compilation.get();
  }

  const npu::test::TempDir dir_;
  std::unique_ptr<GraphSource> source_;
};

TEST_F(IrSourceTest, HasOneCompilationForAllWhoWait) {
  const auto one = source_->start(frames_of(16)), other = source_->start(frames_of(16));
  EXPECT_EQ(one, other);
  EXPECT_EQ(graph_of(*one), graph_of(*other));
}

TEST_F(IrSourceTest, TellsTheSizeOfPicturesThatAreNotSquare) {
  Settings settings;
  settings.model = dir_.write("wide.xml", npu::test::pixels_ir(6, 16)).string();
  dir_.write("wide.modelinfo",
             "[modelinfo]\nversion=1.0\ngroup-id=yolo-v8-out\n[pixels]\ndir=output\n"
             "id=yolo-v8-out\n");
  const auto wide = open_ir(npu::Device::open(npu::DeviceKind::kSoftware), settings);
  ASSERT_TRUE(wide->tensor_group().size);
  EXPECT_EQ(wide->tensor_group().size->first, 16U) << "the width";
  EXPECT_EQ(wide->tensor_group().size->second, 6U);
}

// Until the frames' size is known, there is none to freeze.
TEST_F(IrSourceTest, TellsWhatWasRepairedForTheFramesSize) {
  Settings settings;
  settings.model = dir_.write("sized.xml", npu::test::sized_ir(16)).string();
  settings.device = "software";
  settings.properties = "NPUCORE_COMPILE=in-process";
  const auto sized = open_ir(npu::Device::open(npu::DeviceKind::kSoftware), settings);
  EXPECT_TRUE(sized->repairs().empty());
  const auto compilation = sized->start(frames_of(16));
  EXPECT_EQ(compilation->repairs(),
            std::vector<std::string>{
                "input orig_target_sizes frozen to the model's width and height, 16x16"});
  EXPECT_TRUE(graph_of(*compilation));
  EXPECT_TRUE(sized->start(frames_of(16))->repairs().empty()) << "told once";
}

// Another stream may have got it between find() and start().
TEST_F(IrSourceTest, StartsNothingForAGraphThatIsThere) {
  const std::shared_ptr<Graph> graph = graph_of(*source_->start(frames_of(16)));
  const std::uint64_t compile_ns = source_->compile_ns();
  EXPECT_EQ(graph_of(*source_->start(frames_of(16))), graph);
  EXPECT_EQ(source_->compile_ns(), compile_ns);
}

// Else streams of more layouts than are kept would compile for each frame.
TEST_F(IrSourceTest, KeepsEveryGraphThatSomebodyHas) {
  constexpr std::uint32_t kLayouts = 12;
  std::vector<std::shared_ptr<Graph>> graphs;
  for (std::uint32_t i = 0; i < kLayouts; ++i) {
    graphs.push_back(graph_of(*source_->start(frames_of(8 + 2 * i))));
  }
  for (std::uint32_t i = 0; i < kLayouts; ++i) {
    EXPECT_EQ(source_->find(frames_of(8 + 2 * i)), graphs[i]) << i;
  }
}

TEST_F(IrSourceTest, LetsGoOfGraphsThatNobodyHas) {
  for (std::uint32_t i = 0; i < 12; ++i) graph_of(*source_->start(frames_of(8 + 2 * i)));
  EXPECT_EQ(source_->find(frames_of(8)), nullptr);
  EXPECT_NE(source_->find(frames_of(8 + 2 * 11)), nullptr);
}

// The first compilation that ends finds out that the driver takes no strides; then all others begin
// anew.
TEST_F(IrSourceTest, CompilesForEachLayoutWithoutStrides) {
  const npu::FrameLayout layouts[] = {padded_frames_of(16), padded_frames_of(24),
                                      padded_frames_of(32)};
  std::vector<std::shared_ptr<Compilation>> compilations;
  for (const npu::FrameLayout& layout : layouts) compilations.push_back(source_->start(layout));
  for (std::size_t i = 0; i < std::size(layouts); ++i) {
    std::shared_ptr<Graph> graph;
    ASSERT_NO_THROW(graph = graph_of(*compilations[i])) << i;
    EXPECT_TRUE(graph->takes_any_strides() || graph->layout() == layouts[i]) << i;
    EXPECT_EQ(source_->find(layouts[i]), graph) << i;
  }
}

std::string bytes_of(const std::vector<std::int64_t>& numbers) {
  return {reinterpret_cast<const char*>(numbers.data()), numbers.size() * sizeof(numbers[0])};
}

/// Opens a model with this model_info and these settings, and returns its warnings.
std::vector<std::string> told_of(npu::test::IrWriter& ir, const npu::test::TempDir& dir,
                                 const std::string& info, Settings settings = {}) {
  ir.rt_info("<model_info>" + info + "</model_info>");
  settings.model = ir.write(dir.path(), "model").string();
  return open_ir(npu::Device::open(npu::DeviceKind::kSoftware), settings)->warnings();
}

/// Scales pictures of u8, 64x36, to 24x24 as OpenVINO's PrePostProcessor does.
npu::test::IrWriter scaling_graph() {
  npu::test::IrWriter ir;
  const auto image = ir.parameter("image", "u8", {1, 36, 64, 3}, "[N,H,W,C]");
  const auto real = ir.layer("Convert", {image},
                             {.name = "real", .data = "destination_type=\"f32\"", .type = "f32"});
  ir.result(ir.layer("Interpolate",
                     {real, ir.constant("sizes", "i64", {2}, bytes_of({24, 24})),
                      ir.constant("axes", "i64", {2}, bytes_of({1, 2}))},
                     {.name = "scaled",
                      .data = "mode=\"linear\" shape_calculation_mode=\"sizes\" "
                              "coordinate_transformation_mode=\"half_pixel\" "
                              "nearest_mode=\"round_prefer_floor\" antialias=\"false\" "
                              "pads_begin=\"0\" pads_end=\"0\" cube_coeff=\"-0.75\"",
                      .shape = npu::test::IrShape{1, 24, 24, 3},
                      .opset = "opset11"}));
  return ir;
}

TEST(IrSource, TellsThatTheGraphStretchesWhatShouldHaveBorders) {
  const npu::test::TempDir dir;
  auto ir = scaling_graph();
  const std::string letterbox = "<resize_type value=\"fit_to_window_letterbox\"/>";
  const auto told = told_of(ir, dir, letterbox);
  ASSERT_EQ(told.size(), 1U);
  EXPECT_TRUE(has(told[0], "the graph stretches frames of 64x36 to 24x24, but the model's card"));
  Settings stretched;
  stretched.resize = npu::ResizeMode::kStretch;
  EXPECT_TRUE(told_of(ir, dir, letterbox, stretched).empty()) << "the user has decided";
  EXPECT_TRUE(told_of(ir, dir, "<resize_type value=\"standard\"/>").empty());
}

TEST(IrSource, TellsWhichPropertyDecidesOnTurnedChannels) {
  const npu::test::TempDir dir;
  npu::test::IrWriter ir;
  const auto image = ir.parameter("image", "f32", {1, 3, 36, 64});
  const auto order = ir.constant("order", "i64", {3}, bytes_of({2, 1, 0}));
  const auto axis = ir.constant("axis", "i64", {1}, bytes_of({1}));
  ir.result(ir.layer("Gather", {image, order, axis}, {.name = "turned", .opset = "opset8"}));
  const std::string info = "<reverse_input_channels value=\"YES\"/>";
  const auto told = told_of(ir, dir, info);
  ASSERT_EQ(told.size(), 1U);
  EXPECT_TRUE(has(told[0],
                  "layer 'turned' (Gather, id 3) turns the picture's channels, so they go "
                  "in as BGR: if answers are wrong, set channel-order"));
  Settings decided;
  decided.channels = npu::ChannelOrder::kBGR;
  EXPECT_TRUE(told_of(ir, dir, info, decided).empty());
}

}  // namespace
}  // namespace gstnpu
