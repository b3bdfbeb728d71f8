#include <gtest/gtest.h>

#include <cstdlib>
#include <cstring>
#include <nlohmann/json.hpp>

#include <npucore/npucore.hpp>

#include "ir_files.hpp"
#include "run_tool.hpp"

namespace npu::npu_compare_test {
namespace {

using test::Failure;
using test::TempDir;

test::ToolRun run(const std::string& words) {
  return test::run_tool("NPU_COMPARE", words);
}

/// numbers -> scale (times 2) -> shift (plus 1) -> last (times 3), each with a constant.
struct Network {
  std::array<float, 3> constants = {2, 1, 3};
  int levels = 0;  ///< into which the middle is rounded; 0: it is not
  std::string rt_info = {};
  std::vector<std::string> outputs = {"last"};
  std::string prefix = {};  ///< of the layers' names

  std::string write(const TempDir& dir, const std::string& name) const {
    test::IrWriter ir;
    const auto number = [&](float value) { return ir.constant("", std::vector{value}, {}); };
    const auto numbers = ir.parameter("numbers", "f32", {1, 4});
    const auto scale = ir.binary("Multiply", numbers, number(constants[0]), prefix + "scale");
    const auto shift = ir.binary("Add", scale, number(constants[1]), prefix + "shift");
    auto middle = shift;
    if (levels > 0) {
      // The value in so many levels from 0 to 4, as a compiler makes it that gives one operator few
      // bits.
      const auto low = number(0), high = number(4);
      middle =
          ir.layer("FakeQuantize", {shift, low, high, low, high},
                   {.name = "rounded",
                    .data = "levels=\"" + std::to_string(levels) + "\" auto_broadcast=\"numpy\""});
    }
    const auto last = ir.binary("Multiply", middle, number(constants[2]), prefix + "last");
    for (const auto& output : outputs) {
      ir.result(output == "scale" ? scale : output == "shift" ? shift : last);
    }
    ir.rt_info(rt_info);
    return ir.write(dir.path(), name).string();
  }
};

/// good.xml, and bad.xml with another constant in the middle.
struct Networks {
  TempDir dir;
  std::string good = Network{}.write(dir, "good");
  std::string bad = Network{.constants = {2, 1.5F, 3}}.write(dir, "bad");
};

nlohmann::json run_json(const std::string& words, int code) {
  const auto result = run(words + " --device software --json 2>/dev/null");
  EXPECT_EQ(result.code, code) << result.output;
  return nlohmann::json::parse(result.output);
}

TEST(NpuCompareTest, AModelIsEqualToItself) {
  const Networks networks;
  const auto json = run_json(networks.good + " --count 3", 0);
  EXPECT_EQ(json["equal"], true);
  EXPECT_EQ(json["frames"], 3);
  EXPECT_EQ(json["outputs"][0]["name"], "last");
  EXPECT_EQ(json["outputs"][0]["values"], 12);
  EXPECT_EQ(json["outputs"][0]["largest"], 0);
  EXPECT_NEAR(json["outputs"][0]["cosine"], 1, 1e-12);
}

TEST(NpuCompareTest, TellsHowFarAnotherModelIsOff) {
  const Networks networks;
  const auto output = run_json(networks.bad + ' ' + networks.good, 1)["outputs"][0];
  EXPECT_EQ(output["within_tolerance"], false);
  EXPECT_EQ(output["beyond_tolerance"], 4);
  EXPECT_NEAR(output["largest"], 1.5, 1e-5);
  EXPECT_NEAR(output["mean"], 1.5, 1e-5);
  EXPECT_LT(output["cosine"], 1);
  EXPECT_NEAR(
      output["largest_at"]["value"].get<double>() - output["largest_at"]["reference"].get<double>(),
      1.5, 1e-5);
}

// "scale" and "shift" are the same here; what has no partner by name is not compared with what has.
TEST(NpuCompareTest, ComparesEachOutputOfBothModels) {
  const TempDir dir;
  const std::array<float, 3> constants = {2, 0, 3};
  const auto one = Network{.constants = constants, .outputs = {"scale", "shift"}}.write(dir, "one");
  const auto two = Network{.constants = constants, .outputs = {"shift", "last"}}.write(dir, "two");
  const auto outputs = run_json(one + ' ' + two, 1)["outputs"];
  ASSERT_EQ(outputs.size(), 2u);
  EXPECT_EQ(outputs[0]["name"], "scale");
  EXPECT_EQ(outputs[0]["within_tolerance"], false);
  EXPECT_EQ(outputs[1]["name"], "shift");
  EXPECT_EQ(outputs[1]["largest"], 0);
}

TEST(NpuCompareTest, TellsOfAReferenceOfAnotherName) {
  const TempDir dir;
  const auto one = Network{.prefix = "a"}.write(dir, "one");
  const auto two = Network{.prefix = "b"}.write(dir, "two");
  EXPECT_EQ(run_json(one + ' ' + two, 0)["outputs"][0]["reference_shape"],
            (std::vector<int>{1, 4}));
  const auto text = run(one + ' ' + two + " --device software").output;
  EXPECT_TRUE(has(text, "alast  f32[1,4], reference blast  f32[1,4]"));
}

TEST(NpuCompareTest, TheToleranceDecides) {
  const Networks networks;
  const auto words = networks.bad + ' ' + networks.good;
  EXPECT_EQ(run_json(words + " --tolerance 1.6", 0)["equal"], true);
  EXPECT_EQ(run_json(words + " --tolerance 1.4 --relative-tolerance 0", 1)["equal"], false);
  EXPECT_EQ(run_json(words + " --tolerance 0 --relative-tolerance 0.6", 0)["equal"], true);
}

TEST(NpuCompareTest, TheSameSeedGivesTheSameFigures) {
  const Networks networks;
  const auto words = networks.bad + ' ' + networks.good + " --seed ";
  EXPECT_EQ(run_json(words + '5', 1), run_json(words + '5', 1));
  EXPECT_NE(run_json(words + '5', 1)["outputs"], run_json(words + '6', 1)["outputs"]);
}

TEST(NpuCompareTest, TakesItsInputsFromFiles) {
  const Networks networks;
  const std::array<float, 4> frame = {1, 2, 3, 4};
  const std::string bytes(reinterpret_cast<const char*>(frame.data()), sizeof(frame));
  const auto file = networks.dir.write("frame.raw", bytes).string();
  const auto json = run_json(
      networks.bad + ' ' + networks.good + " --input " + file + " --input numbers=" + file, 1);
  EXPECT_EQ(json["frames"], 2);
  const double reference = json["outputs"][0]["largest_at"]["reference"];
  const auto index = json["outputs"][0]["largest_at"]["index"].get<std::size_t>();
  EXPECT_NEAR(reference, (frame.at(index) * 2 + 1) * 3, 1e-5);
}

TEST(NpuCompareTest, ABlobIsComparedWithItsModel) {
  const Networks networks;
  const auto blob = networks.dir.path() / "bad.blob";
  CompiledModel::compile(Device::open(DeviceKind::kSoftware), Model::read(networks.bad))
      .export_blob(blob);
  EXPECT_EQ(run_json(blob.string() + ' ' + networks.bad, 0)["equal"], true);
  EXPECT_EQ(run_json(blob.string() + ' ' + networks.good, 1)["equal"], false);
}

TEST(NpuCompareTest, PropertiesAreThoseOfOneSide) {
  const Networks networks;
  const auto json = run_json(networks.good + " -p PERF_COUNT=YES", 0);
  EXPECT_EQ(json["tested"]["properties"], (std::vector<std::string>{"PERF_COUNT=YES"}));
  EXPECT_TRUE(json["reference"]["properties"].empty());
}

TEST(NpuCompareTest, TheTextHasTheSameFigures) {
  const Networks networks;
  const auto different = run(networks.bad + ' ' + networks.good + " --device software");
  EXPECT_EQ(different.code, 1) << different.output;
  for (const auto* part : {"DIFFERENT over 1 frame", "largest difference 1.5", "last  f32[1,4]",
                           "4 of 4 values", "frame 0 at [0,"}) {
    EXPECT_TRUE(has(different.output, part)) << part << " in " << different.output;
  }
  const auto equal = run(networks.good + " --device software");
  EXPECT_EQ(equal.code, 0) << equal.output;
  EXPECT_TRUE(has(equal.output, "equal over 1 frame"));
}

TEST(NpuCompareTest, ALostOutputIsAFailureThoughTheModelsAreEqual) {
  const Networks networks;
  EXPECT_EQ(run(networks.good + " --device software > /dev/full").code, 2);
}

TEST(NpuCompareTest, RefusesModelsWithOtherPorts) {
  const Networks networks;
  const auto other = networks.dir.write("other.xml", test::multiply_ir()).string();
  networks.dir.write("other.bin", std::string("\x00\x00\x00\x40", 4));
  const auto result = run(networks.good + ' ' + other + " --device software");
  EXPECT_EQ(result.code, 2);
  EXPECT_TRUE(has(result.output, "do not take the same inputs"));
}

/// Six numbers a row, as detectors with a head of one box each give them: the 2x2 picture's twelve
/// values, times the constants. The rows' place in the picture is the rows themselves.
struct Detector {
  std::array<float, 6> factors = {1, 1, 1, 1, 1, 1};

  std::string write(const TempDir& dir, const std::string& name) const {
    const std::array<std::int64_t, 3> shape = {1, 2, 6};
    test::IrWriter ir;
    const auto rows = ir.layer(
        "Reshape",
        {ir.parameter("picture", "f32", {1, 3, 2, 2}, "", "image"),
         ir.constant("", "i64", {3}, {reinterpret_cast<const char*>(shape.data()), sizeof(shape)})},
        {.data = "special_zero=\"false\"", .shape = test::IrShape{1, 2, 6}});
    ir.result(ir.binary("Multiply", rows, ir.constant("", {factors.begin(), factors.end()}, {6})));
    dir.write("metadata.yaml", "task: detect\nend2end: true\nnames:\n  0: circle\n  1: square\n");
    return ir.write(dir.path(), name).string();
  }
};

/// A circle of 0.9 in the upper left corner, and a square of 0.6 in the lower right one.
std::string picture_of_two(const TempDir& dir) {
  const std::array<float, 12> rows = {0, 0, 1, 1, 0.9F, 0, 1, 1, 2, 2, 0.6F, 1};
  const std::string bytes(reinterpret_cast<const char*>(rows.data()), sizeof(rows));
  return dir.write("picture.raw", bytes).string();
}

TEST(NpuCompareAnswersTest, TellWhichObjectsAreMissing) {
  const TempDir dir;
  const auto good = Detector{}.write(dir, "good");
  const auto bad = Detector{.factors = {1, 1, 1, 1, 0.75F, 1}}.write(dir, "bad");
  const auto input = " --input " + picture_of_two(dir);
  const auto answers = run_json(bad + ' ' + good + input, 1)["answers"];
  EXPECT_EQ(answers["family"], "yolo-end-to-end");
  EXPECT_EQ(answers["changed_frames"], 1);
  EXPECT_EQ(answers["objects"], 1);
  EXPECT_EQ(answers["reference_objects"], 2);
  EXPECT_EQ(answers["missing"], 1);
  EXPECT_EQ(answers["added"], 0);
  EXPECT_NEAR(answers["largest_score_difference"], 0.225, 1e-5);
  EXPECT_EQ(answers["largest_shift_pixels"], 0);
  const auto text = run(bad + ' ' + good + input + " --device software").output;
  EXPECT_TRUE(has(text, "frame 0: square 0.60 at 1.0,1.0 to 2.0,2.0 is missing"));
  const auto turned = run_json(good + ' ' + bad + input, 1)["answers"];
  EXPECT_EQ(turned["missing"], 0);
  EXPECT_EQ(turned["added"], 1);
}

TEST(NpuCompareAnswersTest, MayBeTheSameThoughValuesDiffer) {
  const TempDir dir;
  const auto good = Detector{}.write(dir, "good");
  const auto bad = Detector{.factors = {1, 1, 0.9F, 1, 1, 1}}.write(dir, "bad");
  const auto answers = run_json(bad + ' ' + good + " --input " + picture_of_two(dir), 1)["answers"];
  EXPECT_EQ(answers["changed_frames"], 0);
  EXPECT_EQ(answers["objects"], 2);
  EXPECT_NEAR(answers["largest_shift_pixels"], 0.2, 1e-5);
  EXPECT_TRUE(answers["changes"].empty());
}

TEST(NpuCompareAnswersTest, TellWhichSideBreaksTheContract) {
  const TempDir dir;
  const auto good = Detector{}.write(dir, "good");
  const auto bad = Detector{.factors = {1, 1, 1, 1, 30, 1}}.write(dir, "bad");
  const auto answers = run_json(bad + ' ' + good + " --input " + picture_of_two(dir), 1)["answers"];
  EXPECT_EQ(answers["undecoded"], 1);
  EXPECT_TRUE(has(answers["changes"][0].get<std::string>(), "the model gives no answer"))
      << answers;
}

/// npu-compare's verdict on four numbers, once as they are and once with other signs.
std::string change_of(const std::string& info, float factor) {
  const TempDir dir;
  Network one, other;
  one.rt_info = other.rt_info = "<model_info>" + info + "</model_info>";
  other.constants[0] = factor;
  const std::array<float, 4> frame = {9, 1, 2, 3};
  const std::string bytes(reinterpret_cast<const char*>(frame.data()), sizeof(frame));
  return run(other.write(dir, "other") + ' ' + one.write(dir, "one") + " --input " +
             dir.write("frame.raw", bytes).string() + " --device software")
      .output;
}

// Values differ, but also what they mean.
TEST(NpuCompareAnswersTest, TellOfEmbeddings) {
  const std::string card = "{&quot;task&quot;:&quot;embed&quot;}";
  const auto text = change_of("<npu_card value=\"" + card + "\" />", -2);
  EXPECT_TRUE(has(text, "embedding: CHANGED in 1 of 1 frames"));
  EXPECT_TRUE(has(text, "the embedding has another direction: their cosine is -0.9"));
}

TEST(NpuCompareAnswersTest, AreThoseOfAClassification) {
  const std::string info =
      "<model_info><model_type value=\"Classification\" /><labels value=\"a b c d\" "
      "/></model_info>";
  const TempDir dir;
  Network up, down;
  up.rt_info = down.rt_info = info;
  down.constants[0] = -2;
  const std::array<float, 4> frame = {0, 1, 2, 9};
  const std::string bytes(reinterpret_cast<const char*>(frame.data()), sizeof(frame));
  const auto words = down.write(dir, "down") + ' ' + up.write(dir, "up") + " --input " +
                     dir.write("frame.raw", bytes).string();
  const auto answers = run_json(words, 1)["answers"];
  EXPECT_EQ(answers["family"], "classification");
  ASSERT_EQ(answers["changes"].size(), 1u) << answers;
  EXPECT_EQ(answers["changes"][0], "frame 0: the class is a, not d");
}

TEST(NpuCompareAnswersTest, OfAModelThatNobodyKnowsAreNone) {
  const Networks networks;
  const auto answers = run_json(networks.good, 0)["answers"];
  EXPECT_TRUE(answers["family"].is_null());
  EXPECT_FALSE(answers["refusal"].get<std::string>().empty());
}

nlohmann::json layers_of(const std::string& words) {
  return run_json(words + " --layers", 1)["layers"];
}

TEST(NpuCompareLayersTest, NameTheOneWithAnotherWeight) {
  const Networks networks;
  for (const auto* at_once : {"1", "2", "16"}) {
    const auto layers =
        layers_of(networks.bad + ' ' + networks.good + " --layers-at-once " + at_once);
    const auto first = layers["first_difference"];
    EXPECT_EQ(first["name"], "shift") << at_once;
    EXPECT_EQ(first["type"], "Add") << at_once;
    EXPECT_EQ(first["shape"], (std::vector<int>{1, 4})) << at_once;
    EXPECT_NEAR(first["largest"], 0.5, 1e-5) << at_once;
    EXPECT_EQ(layers["common"], 3) << at_once;
    EXPECT_EQ(layers["compared"], 2) << at_once;
  }
}

TEST(NpuCompareLayersTest, NameTheFirstAndTheLast) {
  const Networks networks;
  const auto first = Network{.constants = {2.5F, 1, 3}}.write(networks.dir, "first");
  const auto last = Network{.constants = {2, 1, 4}}.write(networks.dir, "last");
  EXPECT_EQ(layers_of(first + ' ' + networks.good)["first_difference"]["name"], "scale");
  EXPECT_EQ(layers_of(last + ' ' + networks.good)["first_difference"]["name"], "last");
}

TEST(NpuCompareLayersTest, NameTheOperatorWithAnotherPrecision) {
  const Networks networks;
  const auto fine = Network{.levels = 256}.write(networks.dir, "fine");
  const auto coarse = Network{.levels = 4}.write(networks.dir, "coarse");
  const auto layers = layers_of(coarse + ' ' + fine);
  EXPECT_EQ(layers["first_difference"]["name"], "rounded");
  EXPECT_EQ(layers["first_difference"]["type"], "FakeQuantize");
  EXPECT_EQ(layers["compared"], 3);
}

/// A copy of the shapes detector in which one weight in the middle of a convolution is 4.
std::string shapes_with_another_weight(const std::filesystem::path& shapes, const TempDir& dir) {
  constexpr std::size_t kWeight = 249320 + 8;  // of stage16/a/2/weights_compressed, f16
  const auto read = [](const std::filesystem::path& path) {
    return npu::read_input(path, std::size_t{64} << 20);
  };
  auto weights = read(std::filesystem::path(shapes).replace_extension(".bin"));
  weights.replace(kWeight, 2, std::string("\x00\x44", 2));
  dir.write("changed.bin", weights);
  return dir.write("changed.xml", read(shapes)).string();
}

TEST(NpuCompareLayersTest, NameTheConvolutionOfARealModelWithOneOtherWeight) {
  const char* shapes = std::getenv("SHAPES_XML");
  ASSERT_NE(shapes, nullptr);
  const TempDir dir;
  const auto layers = layers_of(shapes_with_another_weight(shapes, dir) + " '" + shapes + "'");
  EXPECT_EQ(layers["first_difference"]["name"], "stage16/a/2/conv");
  EXPECT_EQ(layers["first_difference"]["type"], "Convolution");
  EXPECT_TRUE(layers["not_compared"].empty()) << layers;
}

TEST(NpuCompareLayersTest, OfOneModelAloneAreNamed) {
  const Networks networks;
  const auto rounded = Network{.levels = 4}.write(networks.dir, "rounded");
  const auto layers = layers_of(rounded + ' ' + networks.good);
  EXPECT_EQ(layers["only_in_model"], (std::vector<std::string>{"rounded"}));
  EXPECT_TRUE(layers["only_in_reference"].empty());
  EXPECT_EQ(layers["first_difference"]["name"], "last") << "behind what is in one model alone";
}

TEST(NpuCompareLayersTest, OfEqualModelsAreNotLookedFor) {
  const Networks networks;
  EXPECT_FALSE(run_json(networks.good + " --layers", 0).contains("layers"));
}

TEST(NpuCompareLayersTest, AreInTheTextToo) {
  const Networks networks;
  const auto text = run(networks.bad + ' ' + networks.good + " --device software --layers").output;
  EXPECT_TRUE(has(text, "2 of 3 compared: the first that differs is 'shift' (Add)"));
}

TEST(NpuCompareLayersTest, OfOtherNamesTellNothing) {
  const Networks networks;
  const auto renamed = Network{.constants = {2, 1.5F, 3}, .prefix = "x/"}.write(networks.dir, "x");
  const auto text = run(renamed + ' ' + networks.good + " --device software --layers").output;
  EXPECT_TRUE(has(text, "0 of 0 compared: nothing is known of where they differ"));
}

class CompareFailureTest : public testing::TestWithParam<Failure> {};

TEST_P(CompareFailureTest, SaysWhy) {
  const Networks networks;
  const auto result = run(GetParam().words_for(networks.good) + " --device software");
  EXPECT_EQ(result.code, GetParam().code) << result.output;
  EXPECT_TRUE(has(result.output, GetParam().expected));
}

INSTANTIATE_TEST_SUITE_P(
    Table, CompareFailureTest,
    testing::Values(Failure{"no_model", "", 2, "model is required"},
                    Failure{"missing_model", "/nowhere/m.xml", 2, "npu-compare: cannot read"},
                    Failure{"missing_reference", "MODEL /nowhere/m.xml", 2, "/nowhere/m.xml"},
                    Failure{"bad_device", "MODEL --reference-device gpu", 2, "gpu"},
                    Failure{"bad_tolerance", "MODEL --tolerance nan", 2, "--tolerance"},
                    Failure{"negative_tolerance", "MODEL --relative-tolerance -1", 2, "-1"},
                    Failure{"no_frames", "MODEL --count 0", 2, "--count"},
                    Failure{"bad_property", "MODEL -p TURBO", 2, "--property needs KEY=VALUE"},
                    Failure{"layers_of_a_blob", "MODEL m.blob --layers", 2, "needs IRs"},
                    Failure{"layers_at_once_alone", "MODEL --layers-at-once 2", 2, "--layers"},
                    Failure{"bad_input", "MODEL --input nope=/dev/null", 2, "no input 'nope'"}),
    by_name);

}  // namespace
}  // namespace npu::npu_compare_test
