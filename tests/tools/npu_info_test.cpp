#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include <npucore/npucore.hpp>
#include <npuvision/model_card.hpp>

#include "ir_files.hpp"
#include "run_tool.hpp"

namespace npu::npu_info_test {
namespace {

using test::TempDir;

test::ToolRun run(const std::string& words) {
  return test::run_tool("NPU_INFO", words);
}

nlohmann::json run_json(const std::string& words) {
  const auto result = run(words + " --json");
  EXPECT_EQ(result.code, 0) << result.output;
  return nlohmann::json::parse(result.output);
}

std::vector<std::string> known_names() {
  std::vector<std::string> names;
  for (const auto& info : known_properties()) names.push_back(info.name);
  return names;
}

TEST(NpuInfoSourcesOfDmabufs, AreToldWithTheReasonOfEachThatDoesNotWork) {
  const auto sources = run_json("--device software").at("dmabuf_sources");
  const auto text = run("--device software").output;
  ASSERT_EQ(sources.size(), 3u);
  for (const auto& source : sources) {
    const std::string verdict = source["ok"].get<bool>() ? "ok: " : "no: ";
    EXPECT_TRUE(has(text, verdict + source["detail"].get<std::string>()));
    EXPECT_TRUE(has(text, source["cure"].get<std::string>()));
  }
}

TEST(NpuInfoPropertiesTest, AreAllThereWithTheDevicesValues) {
  std::vector<std::string> names;
  std::map<std::string, nlohmann::json> rows;
  for (const auto& row : run_json("--properties --device software")) {
    names.push_back(row["name"]);
    rows[names.back()] = row;
  }
  EXPECT_EQ(names, known_names());
  EXPECT_EQ(rows["NPU_TURBO"]["value"], "NO");
  EXPECT_EQ(rows["NPU_TURBO"]["access"], "read-write");
  EXPECT_EQ(rows["DEVICE_ARCHITECTURE"]["value"],
            Device::open(DeviceKind::kSoftware).get_property("DEVICE_ARCHITECTURE"));
  EXPECT_EQ(rows["DEVICE_ARCHITECTURE"]["access"], "read-only");
}

TEST(NpuInfoPropertiesTest, TheTextTellsEachNameValueAndMeaning) {
  const auto result = run("--properties --device software");
  ASSERT_EQ(result.code, 0) << result.output;
  for (const auto& info : known_properties()) {
    EXPECT_TRUE(has(result.output, info.name + " ")) << info.name;
    EXPECT_TRUE(has(result.output, info.meaning)) << info.name;
  }
}

TEST(NpuInfoPropertiesTest, WithoutADeviceTheNamesAreToldAndTheCodeIs1) {
  if (std::filesystem::exists("/dev/accel/accel0")) {
    GTEST_SKIP() << "there is an NPU";
  }
  const auto result = run("--properties --device npu");
  EXPECT_EQ(result.code, 1);
  EXPECT_TRUE(has(result.output, "NPU_TURBO"));
  EXPECT_TRUE(has(result.output, "(no device)"));
}

CompiledModel compiled(const TempDir& dir, bool with_frame) {
  auto model = Model::read(dir.write("m.xml", test::identity_ir("f32", {1, 3, 32, 32})));
  if (with_frame) {
    model.add_preprocess(model.default_preprocess(FrameLayout::tight(PixelFormat::kNV12, 64, 48)));
  }
  return CompiledModel::compile(Device::open(DeviceKind::kSoftware), model);
}

TEST(NpuInfoBlobTest, TellsWhatNpucoreWrote) {
  const TempDir dir;
  const auto blob = dir.path() / "m.blob";
  compiled(dir, true).export_blob(blob);
  const auto json = run_json(blob.string());
  EXPECT_TRUE(has(json["writer"].get<std::string>(), "npucore"));
  EXPECT_EQ(json["file_bytes"], std::filesystem::file_size(blob));
  EXPECT_EQ(json["inputs"].size(), 2);
  EXPECT_EQ(json["outputs"][0]["shape"], (std::vector<int>{1, 3, 32, 32}));
  EXPECT_TRUE(has(json["frame"].get<std::string>(), "NV12 64x48"));
  EXPECT_EQ(json["platform"], "4000");
  const Version& compiler = Device::open(DeviceKind::kSoftware).info().compiler;
  EXPECT_EQ(json["compiler"],
            std::to_string(compiler.major) + "." + std::to_string(compiler.minor));
  std::vector<std::string> sections;
  for (const auto& section : json["sections"]) sections.push_back(section["name"]);
  EXPECT_NE(std::find(sections.begin(), sections.end(), ".shstrtab"), sections.end());
  const auto text = run(blob.string());
  EXPECT_EQ(text.code, 0);
  EXPECT_TRUE(has(text.output, ".shstrtab"));
}

TEST(NpuInfoBlobTest, SurvivesNamesThatAreNotUtf8) {
  const TempDir dir;
  const auto blob = dir.path() / "m.blob";
  const auto text = test::replaced(test::identity_ir("f32", {1, 3, 32, 32}), "names=\"image\"",
                                   "names=\"na\xffme\xc2\x9b\"");
  const auto device = Device::open(DeviceKind::kSoftware);
  CompiledModel::compile(device, Model::read(dir.write("m.xml", text))).export_blob(blob);
  const auto json = run_json(blob.string());
  EXPECT_EQ(json["inputs"][0]["tensor_names"][0], "na\xef\xbf\xbdme\xc2\x9b");
  const auto shown = run(blob.string() + " --json").output;
  EXPECT_FALSE(has(shown, "\xc2\x9b")) << "a terminal's escape";
  EXPECT_TRUE(has(run(blob.string()).output, "na\\xffme\\xc2\\x9b"));
}

TEST(NpuInfoModelTest, TellsWhatIsKnownAndWhereItIsWritten) {
  const TempDir dir;
  const auto model = dir.write("m.xml", test::identity_ir("f32", {1, 3, 32, 32}));
  dir.write("metadata.yaml", "task: detect\nnames: [a, b, c, d, e, f, g, h, i]\n");
  dir.write("config.json", R"({"architectures": ["X"]})");
  const auto json = run_json(model.string());
  EXPECT_EQ(json["inputs"][0]["shape"], (std::vector<int>{1, 3, 32, 32}));
  EXPECT_EQ(json["card"]["task"], "detect");
  EXPECT_EQ(json["card"]["labels"].size(), 9);
  EXPECT_EQ(json["card"]["origins"]["task"], "metadata.yaml");
  EXPECT_TRUE(json["card_error"].is_null());
  const auto text = run(model.string());
  EXPECT_EQ(text.code, 0);
  EXPECT_TRUE(has(text.output, "task                  detect  (metadata.yaml)\n"));
  EXPECT_TRUE(has(text.output, "a, b, c, d, e, f, g, h, ... (9)  (metadata.yaml)\n"));
  EXPECT_TRUE(has(text.output, "architecture          X  (config.json)\n"));
}

TEST(NpuInfoModelTest, TellsThatNothingIsKnown) {
  const TempDir dir;
  const auto model = dir.write("m.xml", test::identity_ir("f32", {1, 3, 32, 32}));
  EXPECT_TRUE(has(run(model.string()).output, "nothing is known of what the model is for"));
  EXPECT_EQ(run_json(model.string())["card"], nlohmann::json::object());
}

TEST(NpuInfoModelTest, TellsWhyWhatIsKnownCannotBeRead) {
  const TempDir dir;
  const auto model = dir.write("m.xml", test::identity_ir("f32", {1, 3, 32, 32}));
  dir.write("config.json", "{");
  const auto text = run(model.string());
  EXPECT_EQ(text.code, 1);
  EXPECT_TRUE(has(text.output, "cannot read " + (dir.path() / "config.json").string()));
  EXPECT_TRUE(has(text.output, "input "));
  const auto json = nlohmann::json::parse(run(model.string() + " --json").output);
  EXPECT_TRUE(json["card"].is_null());
  EXPECT_TRUE(has(json["card_error"].get<std::string>(), "it is no JSON"));
}

TEST(NpuInfoModelTest, NamesDoNotLookLikeLinesOfOurs) {
  const TempDir dir;
  const auto model = dir.write("m.xml", test::identity_ir("f32", {1, 3, 32, 32}));
  dir.write("metadata.yaml", "task: detect\nnames: [\"cat\\n  family  ssd\", dog]\n");
  EXPECT_TRUE(has(run(model.string()).output, R"("cat\n  family  ssd", dog  (metadata.yaml))"));
}

TEST(NpuInfoModelTest, TellsWhichStepsTheGraphDoesItself) {
  const TempDir dir;
  dir.write("metadata.yaml", "task: detect\nnames: [cat, dog]\n");
  const auto text = [&](const char* type) {
    return run(dir.write("m.xml", test::identity_ir(type, {1, 3, 32, 32})).string()).output;
  };
  EXPECT_TRUE(has(text("f32"), "255.0  (metadata.yaml)"));
  EXPECT_TRUE(has(text("u8"), "255.0  (in the graph)"));
}

TEST(NpuInfoModelTest, TellsThatTheGraphTurnsItsChannels) {
  const TempDir dir;
  test::IrWriter ir;
  const auto image = ir.parameter("image", "f32", {1, 3, 32, 32});
  const std::int64_t numbers[] = {2, 1, 0, 1};
  const std::string_view bytes(reinterpret_cast<const char*>(numbers), sizeof numbers);
  const auto order = ir.constant("order", "i64", {3}, bytes.substr(0, 24));
  const auto axis = ir.constant("axis", "i64", {1}, bytes.substr(24));
  ir.result(ir.layer("Gather", {image, order, axis}, {.name = "turned", .opset = "opset8"}));
  ir.rt_info("<model_info><reverse_input_channels value=\"YES\"/></model_info>");
  const auto text = run(ir.write(dir.path(), "m").string()).output;
  EXPECT_TRUE(has(text, "channels              BGR  (in the graph)")) << text;
  EXPECT_TRUE(has(text, "warning layer 'turned' (Gather, id 3) turns the picture's channels"));
}

TEST(NpuInfoModelTest, NamesDoNotDriveTheTerminal) {
  const TempDir dir;
  const auto model = dir.write("m.xml", test::identity_ir("f32", {1, 3, 32, 32}));
  dir.write("labels.txt", "a\x1b[31m\n");
  EXPECT_TRUE(has(run(model.string()).output, "a\\x1b[31m  (labels.txt)"));
}

TEST(NpuInfoBlobTest, ShowsTheCardOnce) {
  const TempDir dir;
  auto model = Model::read(dir.write("m.xml", test::identity_ir("f32", {1, 3, 32, 32})));
  model.set_model_info(vision::kCardKey, R"({"task":"pose","origins":{"task":"metadata.yaml"}})");
  const auto blob = dir.path() / "m.blob";
  CompiledModel::compile(Device::open(DeviceKind::kSoftware), model).export_blob(blob);
  const auto text = run(blob.string()).output;
  EXPECT_TRUE(has(text, "pose  (metadata.yaml)\n"));
  EXPECT_FALSE(has(text, "npu_card"));
  EXPECT_EQ(run_json(blob.string())["card"]["task"], "pose");
}

std::filesystem::path bare_elf(const TempDir& dir) {
  const auto native = compiled(dir, false).native_binary();
  return dir.write("bare.blob", {reinterpret_cast<const char*>(native.data()), native.size()});
}

TEST(NpuInfoBlobTest, ABareElfHasNoWriter) {
  const TempDir dir;
  const auto json = run_json(bare_elf(dir).string());
  EXPECT_TRUE(json["writer"].is_null());
  EXPECT_FALSE(json["sections"].empty());
  EXPECT_TRUE(json["frame"].is_null());
}

/// Byte offsets in an ELF64 header, and what makes it point outside of the file.
struct Damage : Named {
  std::size_t at;
  std::string bytes;
};

class DamagedBlobTest : public testing::TestWithParam<Damage> {};

TEST_P(DamagedBlobTest, IsRefusedByName) {
  const TempDir dir;
  const auto blob = bare_elf(dir);
  std::fstream file(blob, std::ios::in | std::ios::out | std::ios::binary);
  file.seekp(static_cast<std::streamoff>(GetParam().at));
  file << GetParam().bytes;
  file.close();
  const auto result = run(blob.string());
  EXPECT_EQ(result.code, 1) << result.output;
  EXPECT_TRUE(has(result.output, "npu-info: '" + blob.string()));
}

INSTANTIATE_TEST_SUITE_P(Table, DamagedBlobTest,
                         testing::Values(Damage{"table_far_away", 0x28, std::string(8, '\x7f')},
                                         Damage{"small_entries", 0x3a, std::string("\x08\x00", 2)},
                                         Damage{"many_entries", 0x3c, "\xff\xff"},
                                         Damage{"names_not_there", 0x3e, "\xff\xff"},
                                         Damage{"no_magic", 0, "NOTELF"}),
                         by_name);

TEST(NpuInfoBlobTest, ASectionThatReachesPastTheEndIsNamed) {
  const TempDir dir;
  const auto blob = bare_elf(dir);
  std::fstream file(blob, std::ios::in | std::ios::out | std::ios::binary);
  const auto number = [&]<class Number>(std::streamoff at, Number value) {
    file.seekg(at).read(reinterpret_cast<char*>(&value), sizeof(value));
    return static_cast<std::streamoff>(value);
  };
  constexpr std::streamoff kEntry = 64, kType = 4, kSize = 32;
  const std::streamoff table = number(0x28, std::uint64_t{0});
  const std::streamoff names = number(0x3e, std::uint16_t{0});
  std::streamoff first = 1;  // with bytes
  while (first == names || number(table + first * kEntry + kType, std::uint32_t{0}) != 1) ++first;
  file.seekp(table + first * kEntry + kSize).write("\0\0\0\0\1\0\0\0", 8);
  file.close();
  const auto result = run(blob.string());
  EXPECT_EQ(result.code, 1) << result.output;
  EXPECT_TRUE(has(result.output, "of 4294967296 bytes at"));
}

TEST(NpuInfoBlobTest, OneThatIsNotThereIsCode1) {
  const auto result = run("/nowhere/m.blob");
  EXPECT_EQ(result.code, 1);
  EXPECT_TRUE(has(result.output, "/nowhere/m.blob"));
}

}  // namespace
}  // namespace npu::npu_info_test
