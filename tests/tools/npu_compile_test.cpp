#include <gtest/gtest.h>
#include <pty.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstdlib>
#include <fstream>
#include <sstream>
#include <thread>

#include <npucore/npucore.hpp>
#include <npuvision/model_card.hpp>

#include "ir_files.hpp"
#include "run_tool.hpp"

namespace npu::npu_compile_test {
namespace {

using test::Failure;
using test::names_in;
using test::TempDir;

test::ToolRun run(const std::string& words) {
  return test::run_tool("NPU_COMPILE", words);
}

const char* const kModelInfo = "[modelinfo]\nversion=1.0\ngroup-id=g\n";

TEST(NpuCompileTest, WritesABlobThatGivesTheModelsNumbers) {
  const TempDir dir;
  dir.write("m.bin", std::string("\x00\x00\x00\x40", 4));
  const auto model = dir.write("m.xml", test::multiply_ir());
  const auto result = run(model.string() + " --device software");
  ASSERT_EQ(result.code, 0) << result.output;
  EXPECT_TRUE(has(result.output, "input   numbers  f32[1,2]"));
  EXPECT_TRUE(has(result.output, "output  twice  f32[1,2]"));
  const auto device = Device::open(DeviceKind::kSoftware);
  auto request = CompiledModel::import(device, dir.path() / "m.blob").create_request();
  auto* in = reinterpret_cast<float*>(request.input(0).data());
  in[0] = 1.5F;
  in[1] = -8;
  request.infer();
  const auto* out = reinterpret_cast<const float*>(request.output(0).data());
  EXPECT_EQ(out[0], 3);
  EXPECT_EQ(out[1], -16);
}

/// The model that the cache has under a name; it must be there.
CompiledModel cached(const std::filesystem::path& cache, const char* id) {
  CompileOptions options;
  options.properties.set(property::cache_dir, cache.string()).set(property::cache_id, id);
  return CompiledModel::load_cached(Device::open(DeviceKind::kSoftware), options).value();
}

TEST(NpuCompileTest, KeepsTheModelInACacheByItsName) {
  const TempDir dir;
  const auto cache = dir.path() / "cache";
  const auto model = dir.write("m.xml", test::multiply_ir());
  const std::string words = " --device software --cache " + cache.string() + " --id 'one two'";
  for (const float factor : {2.F, 5.F}) {
    dir.write("m.bin", std::string(reinterpret_cast<const char*>(&factor), sizeof factor));
    const auto result = run(model.string() + words);
    ASSERT_EQ(result.code, 0) << result.output;
    EXPECT_TRUE(has(result.output, "one two, in " + cache.string()));
    EXPECT_TRUE(has(result.output, "input   numbers  f32[1,2]"));
    EXPECT_TRUE(has(result.output, "s, from the compiler"));
    const auto compiled = cached(cache, "one two");
    auto request = compiled.create_request();
    reinterpret_cast<float*>(request.input(0).data())[0] = 3;
    request.infer();
    EXPECT_EQ(*reinterpret_cast<const float*>(request.output(0).data()), 3 * factor);
  }
  EXPECT_EQ(names_in(cache).size(), 1U);
  EXPECT_EQ(names_in(dir.path()), (std::vector<std::string>{"cache", "m.bin", "m.xml"}));
  EXPECT_EQ(run(model.string() + words + " -o " + (dir.path() / "m.blob").string()).code, 0);
  EXPECT_TRUE(std::filesystem::exists(dir.path() / "m.blob"));
}

TEST(NpuCompileTest, FailsWhereTheCacheKeepsNothing) {
  const TempDir dir;
  dir.write("m.bin", std::string("\x00\x00\x00\x40", 4));
  const auto model = dir.write("m.xml", test::multiply_ir());
  const auto cache = (dir.path() / "cache").string();
  const std::string words = model.string() + " --device software --cache " + cache + " --id x";
  ASSERT_EQ(run(words).code, 0);
  const auto result = run(words + " -p CACHE_SIZE=10");
  EXPECT_EQ(result.code, 1);
  EXPECT_TRUE(has(result.output, "could not be kept in the cache: "));
  EXPECT_TRUE(has(result.output, "CACHE_SIZE is 10"));
  EXPECT_TRUE(has(run(model.string() + " --id x --device software").output, "set CACHE_DIR"));
  EXPECT_EQ(run(words + " --target 4000").code, 2);
}

TEST(NpuCompileTest, BakesPreprocessingInAndDescribesIt) {
  const TempDir dir;
  const auto model = dir.write("m.xml", test::identity_ir("f32", {1, 3, 32, 32}));
  dir.write("m.modelinfo", kModelInfo);
  const auto blob = dir.path() / "made.blob";
  const auto result =
      run(model.string() + " -o " + blob.string() +
          " --device software --frame NV12:63x35:stride=64 --matrix bt2020 --range "
          "full --resize letterbox --mean 1,2,3 --scale 4 --channels bgr --pad-value 7");
  ASSERT_EQ(result.code, 0) << result.output;
  EXPECT_EQ(names_in(dir.path()),
            (std::vector<std::string>{"m.modelinfo", "m.xml", "made.blob", "made.modelinfo"}));
  const auto compiled = CompiledModel::import(Device::open(DeviceKind::kSoftware), blob);
  ASSERT_TRUE(compiled.frame_input());
  const auto& made = compiled.frame_input()->preprocess;
  EXPECT_EQ(made.frame.describe(), "NV12 63x35 bt2020 full, planes 64x35 64x18");
  EXPECT_EQ(made.resize, ResizeMode::kLetterbox);
  EXPECT_EQ(made.channels, ChannelOrder::kBGR);
  EXPECT_EQ(made.mean, (std::vector<float>{1, 2, 3}));
  EXPECT_EQ(made.scale, (std::vector<float>{4}));
  EXPECT_EQ(made.pad_value, 7);
  EXPECT_EQ(compiled.frame_input()->plane_inputs,
            (std::vector<std::string>{"image/y", "image/uv"}));
  EXPECT_NO_THROW(compiled.input_index("image/uv"));
}

class CompileFailureTest : public testing::TestWithParam<Failure> {};

TEST_P(CompileFailureTest, SaysWhyAndLeavesNothing) {
  const TempDir dir;
  const auto model = dir.write("m.xml", test::identity_ir("f32", {1, 3, 32, 32}));
  const auto result = run(GetParam().words_for(model.string()));
  EXPECT_EQ(result.code, GetParam().code) << result.output;
  EXPECT_TRUE(has(result.output, GetParam().expected));
  EXPECT_EQ(names_in(dir.path()), std::vector<std::string>{"m.xml"});
}

INSTANTIATE_TEST_SUITE_P(
    Table, CompileFailureTest,
    testing::Values(
        Failure{"no_model", "", 2, "model is required"},
        Failure{"missing_model", "/nowhere/m.xml", 1, "npu-compile: cannot read /nowhere/m.xml"},
        Failure{"unknown_option", "MODEL --fast", 2, "--fast"},
        Failure{"matrix_without_frame", "MODEL --matrix bt709", 2, "--frame"},
        Failure{"bad_frame", "MODEL --frame NV12", 1, "npu-compile: 'NV12' is not a frame"},
        Failure{"bad_matrix", "MODEL --frame NV12:64x64 --matrix bt1886", 1, "'bt1886'"},
        Failure{"bad_mean", "MODEL --frame NV12:64x64 --mean 1,2", 1, "mean has 2 values"},
        Failure{"bad_config", "MODEL --config FAST", 1, "--config needs KEY=VALUE"},
        Failure{"unknown_property", "MODEL -p NPU_TURBI=YES", 1, "NPU_TURBO"},
        Failure{"bad_property", "MODEL -p NPU_TURBO", 1, "--property needs KEY=VALUE"},
        Failure{"bad_tiles", "MODEL --tiles many", 1, "NPU_TILES"},
        Failure{"raw_in_no_folder", "MODEL --raw --device software -o /nowhere/m.blob", 1,
                "cannot write /nowhere/m.blob"},
        Failure{"bad_device", "MODEL --device gpu", 2, "gpu"},
        Failure{"output_in_no_folder", "MODEL --device software -o /nowhere/m.blob", 1,
                "npu-compile: cannot write /nowhere/m.blob"}),
    by_name);

TEST(NpuCompileTest, RawIsTheDriversElfAlone) {
  const TempDir dir;
  const auto model = dir.write("m.xml", test::identity_ir("f32", {1, 3, 32, 32}));
  const auto whole = dir.path() / "whole.blob", raw = dir.path() / "raw.blob";
  ASSERT_EQ(run(model.string() + " --device software -o " + whole.string()).code, 0);
  ASSERT_EQ(run(model.string() + " --device software --raw -o " + raw.string()).code, 0);
  EXPECT_EQ(read_blob_info(raw).writer, "");
  EXPECT_NE(read_blob_info(whole).writer, "");
  EXPECT_EQ(read_blob_info(raw).sections.size(), read_blob_info(whole).sections.size());
  EXPECT_NO_THROW(CompiledModel::import(Device::open(DeviceKind::kSoftware), raw));
}

/// Files that an output must never replace, and options that would make it do so.
struct KeepRow {
  const char* name;
  std::string file;  ///< in the model's folder
  const char* options;
  const char* complaint;
};

test::ToolRun run_in(const std::filesystem::path& folder, const std::string& words) {
  return run("--help >/dev/null; cd " + folder.string() + "; \"$NPU_COMPILE\" " + words);
}

class KeptFile : public testing::TestWithParam<KeepRow> {};

TEST_P(KeptFile, IsNotReplacedByTheBlob) {
  const TempDir dir;
  dir.write("m.bin", std::string("\x00\x00\x00\x40", 4));
  dir.write("w.bin", std::string("\x00\x00\x00\x40", 4));
  const auto model = dir.write("m.xml", test::multiply_ir());
  ASSERT_EQ(::mkfifo((dir.path() / "fifo").c_str(), 0600), 0);
  std::filesystem::create_symlink("m.bin", dir.path() / "link");
  std::filesystem::create_symlink("/dev/null", dir.path() / "device");
  const auto before = names_in(dir.path());
  for (const char* raw : {"", " --raw"}) {
    const auto result = run_in(dir.path(), std::string("m.xml --device software") + raw + " -o " +
                                               GetParam().file + " " + GetParam().options);
    EXPECT_EQ(result.code, 1) << result.output;
    EXPECT_TRUE(has(result.output, GetParam().complaint));
  }
  EXPECT_EQ(names_in(dir.path()), before);
  EXPECT_EQ(std::filesystem::file_size(dir.path() / "m.bin"), 4U);
  EXPECT_TRUE(std::filesystem::is_fifo(dir.path() / "fifo"));
  EXPECT_TRUE(std::filesystem::is_symlink(dir.path() / "link"));
}

INSTANTIATE_TEST_SUITE_P(
    Table, KeptFile,
    testing::Values(KeepRow{"Model", "./m.xml", "", "the blob would replace m.xml"},
                    KeepRow{"Weights", "m.bin", "", "the blob would replace m.bin"},
                    KeepRow{"OtherWeights", "w.bin", "--weights w.bin",
                            "the blob would replace w.bin"},
                    KeepRow{"Fifo", "fifo", "", "it is there and no regular file"},
                    KeepRow{"Link", "link", "", "it is there and no regular file"},
                    KeepRow{"LinkToADevice", "device", "", "it is there and no regular file"}),
    by_name);

TEST(NpuCompileTest, ACopiedModelInfoDoesNotReplaceTheWeights) {
  const TempDir dir;
  dir.write("w.modelinfo", std::string("\x00\x00\x00\x40", 4));
  dir.write("m.modelinfo", "[modelinfo]");
  dir.write("m.xml", test::multiply_ir());
  const auto before = names_in(dir.path());
  const auto result = run_in(dir.path(), "m.xml --weights w.modelinfo -o w.blob --device software");
  EXPECT_EQ(result.code, 1) << result.output;
  EXPECT_TRUE(has(result.output, "would replace w.modelinfo"));
  EXPECT_EQ(names_in(dir.path()), before);
  EXPECT_EQ(std::filesystem::file_size(dir.path() / "w.modelinfo"), 4U);
}

TEST(NpuCompileTest, TakesTheLongestNames) {
  const TempDir dir;
  const std::string name(251, 'm');
  dir.write(name + ".xml", test::identity_ir("f32", {1, 3, 32, 32}));
  for (const std::string& blob : {std::string("short.blob"), std::string(250, 'b') + ".blob"}) {
    const auto result = run_in(dir.path(), name + ".xml -o " + blob + " --device software");
    EXPECT_EQ(result.code, 0) << result.output;
    EXPECT_TRUE(std::filesystem::exists(dir.path() / blob));
  }
}

TEST(NpuCompileTest, RawFollowsNoLinkOfOthers) {
  const TempDir dir;
  const auto model = dir.write("m.xml", test::identity_ir("f32", {1, 3, 32, 32}));
  const auto victim = dir.write("victim", "precious");
  // The shell becomes the tool, so that its process id is known beforehand.
  const auto result = run("--help >/dev/null; cd " + dir.path().string() +
                          "; ln -s victim m.blob.$$; exec \"$NPU_COMPILE\" " + model.string() +
                          " --device software --raw");
  EXPECT_EQ(result.code, 0) << result.output;
  std::ostringstream text;
  text << std::ifstream(victim).rdbuf();
  EXPECT_EQ(text.str(), "precious");
}

TEST(NpuCompileTest, AStandardOutputThatCannotBeWrittenIsAFailure) {
  const TempDir dir;
  const auto model = dir.write("m.xml", test::identity_ir("f32", {1, 3, 32, 32})).string();
  for (const auto* words : {" --device software", " --help", " --list-options --device software"}) {
    const auto full = run_in("/", model + words + " 2>&1 >/dev/full; echo code $? #");
    EXPECT_TRUE(has(full.output, "code 1")) << words;
    EXPECT_TRUE(has(full.output, "the standard output cannot be written"));
  }
}

TEST(NpuCompileTest, AFifoIsNotWaitedFor) {
  const TempDir dir;
  ASSERT_EQ(::mkfifo((dir.path() / "m.xml").c_str(), 0600), 0);
  const auto result = run((dir.path() / "m.xml").string() + " --device software");
  EXPECT_EQ(result.code, 1);
  EXPECT_TRUE(has(result.output, "it is a FIFO, not a regular file"));
}

TEST(NpuCompileTest, MessagesDoNotDriveTheTerminal) {
  const auto result = run("\"$(printf '/nowhere/\\033[31m.xml')\"");
  EXPECT_EQ(result.code, 1);
  EXPECT_TRUE(has(result.output, "\\x1b[31m"));
  EXPECT_FALSE(has(result.output, "\033"));
}

TEST(NpuCompileTest, ReshapesBeforeItCompiles) {
  const TempDir dir;
  dir.write("m.bin", std::string("\x00\x00\x00\x40", 4));
  const auto model = dir.write("m.xml", test::multiply_ir());
  const auto result = run(model.string() + " --device software --reshape numbers=3,2");
  ASSERT_EQ(result.code, 0) << result.output;
  EXPECT_TRUE(has(result.output, "input   numbers  f32[3,2]"));
}

TEST(NpuCompileTest, ListsItsOptionsWithoutAModel) {
  const auto result = run("--list-options --device software");
  EXPECT_EQ(result.code, 0) << result.output;
  EXPECT_TRUE(has(result.output, "NPU_TILES"));
  EXPECT_FALSE(has(result.output, "FULL_DEVICE_NAME"));
}

/// The driver's own record of the build flags of a compilation.
std::string build_flags_of(const std::string& options) {
  const TempDir dir;
  const auto model = dir.write("m.xml", test::identity_ir("f32", {1, 3, 32, 32}));
  const auto trace = dir.path() / "trace";
  ::setenv("SOFTNPU_TRACE", trace.c_str(), 1);
  const auto result = run(model.string() + " --device software " + options);
  ::unsetenv("SOFTNPU_TRACE");
  EXPECT_EQ(result.code, 0) << result.output;
  std::ostringstream text;
  text << std::ifstream(trace).rdbuf();
  const auto at = text.str().find("build_flags");
  return at == std::string::npos ? "" : text.str().substr(at, text.str().find('\n', at) - at);
}

TEST(NpuCompileTest, PropertiesReachTheCompiler) {
  EXPECT_TRUE(has(build_flags_of("--hint latency"), "LATENCY"));
  EXPECT_FALSE(has(build_flags_of(""), "LATENCY"));
  EXPECT_TRUE(has(build_flags_of("-p NPU_TILES=2"), "NPU_TILES"));
  EXPECT_TRUE(has(build_flags_of("--platform 3720"), "3720"));
  EXPECT_TRUE(has(build_flags_of("--hint latency -p PERFORMANCE_HINT=THROUGHPUT"), "THROUGHPUT"));
}

TEST(NpuCompileTest, NamesAnOperatorThatTheCompilerDoesNotKnow) {
  const TempDir dir;
  const auto text = test::replaced(test::multiply_ir(), "type=\"Multiply\"", "type=\"Quux\"");
  dir.write("m.bin", std::string("\x00\x00\x00\x40", 4));
  const auto result = run(dir.write("m.xml", text).string() + " --device software");
  EXPECT_EQ(result.code, 1);
  EXPECT_TRUE(has(result.output, "Quux"));
  EXPECT_EQ(names_in(dir.path()), (std::vector<std::string>{"m.bin", "m.xml"}));
}

// npuimport gives such a blob frames of BGR.
TEST(NpuCompileTest, NotesThatAGraphTurnsItsChannels) {
  const TempDir dir;
  test::IrWriter ir;
  const auto image = ir.parameter("image", "u8", {1, 8, 8, 3}, "[N,H,W,C]");
  const std::int64_t numbers[] = {2, 1, 0, 3};
  const std::string_view bytes(reinterpret_cast<const char*>(numbers), sizeof numbers);
  const auto order = ir.constant("order", "i64", {3}, bytes.substr(0, 24));
  const auto axis = ir.constant("axis", "i64", {1}, bytes.substr(24));
  ir.result(ir.layer("Gather", {image, order, axis}, {.name = "turned", .opset = "opset8"}));
  const auto blob = (dir.path() / "m.blob").string();
  const auto result = run(ir.write(dir.path(), "m").string() + " --device software -o " + blob);
  ASSERT_EQ(result.code, 0) << result.output;
  const auto device = Device::open(DeviceKind::kSoftware);
  EXPECT_EQ(CompiledModel::import(device, blob).model_info().at(vision::kChannelsKey), "BGR");
}

/// A chain of many layers, which takes a compiler a while.
std::string long_model() {
  test::IrWriter ir;
  auto last = ir.parameter("picture", "f32", {1, 3, 32, 32});
  for (int i = 0; i < 400; ++i) last = ir.layer(i % 2 == 0 ? "Exp" : "Sigmoid", {last});
  ir.result(last);
  return ir.xml();
}

struct Terminal {
  int code = -1;
  std::string output;
};

/// The same with a terminal for all three streams.
Terminal run_in_terminal(const std::vector<std::string>& words) {
  int terminal = -1;
  const pid_t child = ::forkpty(&terminal, nullptr, nullptr, nullptr);
  if (child == 0) {
    std::vector<char*> arguments;
    for (const auto& word : words) arguments.push_back(const_cast<char*>(word.c_str()));
    arguments.push_back(nullptr);
    ::execv(std::getenv("NPU_COMPILE"), arguments.data());
    ::_exit(127);
  }
  Terminal result;
  char buffer[4096];
  for (ssize_t got = 0; (got = ::read(terminal, buffer, sizeof(buffer))) > 0;) {
    result.output.append(buffer, static_cast<std::size_t>(got));
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  ::close(terminal);
  result.code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  return result;
}

TEST(NpuCompileTest, ShowsItsProgressOnATerminalOnly) {
  const TempDir dir;
  const auto model = dir.write("m.xml", test::identity_ir("f32", {1, 3, 32, 32})).string();
  const auto on_terminal = run_in_terminal({"npu-compile", model, "--device", "software"});
  EXPECT_EQ(on_terminal.code, 0) << on_terminal.output;
  EXPECT_TRUE(has(on_terminal.output, "\r\033[K"));
  EXPECT_FALSE(has(run(model + " --device software").output, "\r"));
}

TEST(NpuCompileTest, AnInterruptWhileCompilingIsCode130) {
  const TempDir dir;
  const auto trace = (dir.path() / "trace").string(), blob = (dir.path() / "m.blob").string();
  const auto model = dir.write("m.xml", long_model()).string();
  ::setenv("SOFTNPU_TRACE", trace.c_str(), 1);
  // The second context is that of the process that compiles. Before, a shell's program in the
  // background does not see the signal.
  const auto result = run(
      model + " --device software -o " + blob + " & pid=$!; until [ \"0$(grep -c zeContextCreate " +
      trace + " 2>/dev/null)\" -ge 2 ]; do sleep 0.01; done; kill -INT $pid; wait $pid");
  ::unsetenv("SOFTNPU_TRACE");
  EXPECT_EQ(result.code, 130) << result.output;
  EXPECT_FALSE(std::filesystem::exists(blob));
}

/// "steps" layers, each an Add and a ReLU named a0, r0, a1, ...
std::filesystem::path write_chain(const TempDir& dir, int steps) {
  test::IrWriter ir("chain");
  auto last = ir.parameter("input", "f32", {1, 4}, "", "x");
  const auto one = ir.constant("one", std::vector{1.0F}, {1, 1});
  for (int i = 0; i < steps; ++i) {
    last = ir.binary("Add", last, one, "a" + std::to_string(i));
    last = ir.layer("ReLU", {last}, {.name = "r" + std::to_string(i)});
  }
  ir.result(last, "result");
  return ir.write(dir.path(), "chain");
}

test::ToolRun run_with_refusal(const std::string& layer, const std::string& words) {
  return test::run_tool("NPU_COMPILE", words, "SOFTNPU_REFUSE=" + layer + ' ');
}

TEST(NpuCompileTest, NamesTheLayersThatTheCompilerRefuses) {
  const TempDir dir;
  const auto model = write_chain(dir, 12);
  for (const char* where : {"helper", "in-process"}) {
    const auto result =
        run_with_refusal("Relu", model.string() + " --device software -p NPUCORE_COMPILE=" + where);
    EXPECT_EQ(result.code, 1);
    EXPECT_TRUE(has(result.output, "the compiler refuses 12 of 24 layers: 'r0' (ReLU), 'r1' "));
    EXPECT_TRUE(has(result.output, "'r9' (ReLU) and 2 more"));
  }
}

TEST(NpuCompileTest, FindsTheFirstLayerThatTheCompilerRefusesWithoutNamingIt) {
  const TempDir dir;
  const std::string model = write_chain(dir, 12).string();
  const std::string library =
      std::string(" -p 'NPUCORE_COMPILER_LIBRARY=") + std::getenv("COMPILER_LIBRARY") + "'";
  for (const auto& how : {std::string(" --device software"), " --target 4000" + library}) {
    for (const char* layer : {"a0", "r7", "r11"}) {
      const auto result = run_with_refusal(std::string("quietly:") + layer, model + how + " --why");
      EXPECT_EQ(result.code, 1);
      EXPECT_TRUE(has(result.output, std::string("\nlayer     ") + layer)) << how;
      EXPECT_TRUE(has(result.output, "f32[1,4]")) << how;
      EXPECT_TRUE(has(result.output, "reason  Bad optional access")) << how;
    }
  }
  const auto result = run_with_refusal("quietly:r7", model + " --why --device software");
  EXPECT_TRUE(has(result.output, "the first 15 of 24 layers are taken"));
  EXPECT_TRUE(has(result.output, "the first 16 of 24 layers are refused"));
  EXPECT_TRUE(has(result.output, "place   16: the layers before it are taken"));
}

TEST(NpuCompileTest, FindsNoLayerWhereTheModelCompiles) {
  const TempDir dir;
  const std::string model = write_chain(dir, 2).string();
  const auto result = run(model + " --device software --why");
  EXPECT_EQ(result.code, 0) << result.output;
  EXPECT_TRUE(has(result.output, "no layer is refused"));
  EXPECT_EQ(names_in(dir.path()), (std::vector<std::string>{"chain.bin", "chain.xml"}));
}

TEST(NpuCompileTest, SaysThatTheCompilerCrashed) {
  const TempDir dir;
  const auto model = dir.write("m.xml", test::identity_ir("f32", {1, 3, 32, 32}));
  ::setenv("SOFTNPU_FAULT", "pfnCreate3:ABORT@1", 1);
  const auto result = run(model.string() + " --device software");
  ::unsetenv("SOFTNPU_FAULT");
  EXPECT_EQ(result.code, 1) << result.output;
  EXPECT_TRUE(has(result.output, "signal 6"));
  EXPECT_FALSE(std::filesystem::exists(dir.path() / "m.blob"));
}

TEST(NpuCompileCard, GoesIntoTheBlob) {
  const TempDir dir, elsewhere;
  const auto model = dir.write("m.xml", test::identity_ir("f32", {1, 3, 32, 32}));
  dir.write("metadata.yaml", "task: obb\nend2end: true\nnames: {0: small ship}\n");
  const auto blob = elsewhere.path() / "m.blob";
  const auto result = run(model.string() + " -o " + blob.string() + " --device software");
  ASSERT_EQ(result.code, 0) << result.output;
  const auto info = read_blob_info(blob).model_info;
  const auto card = vision::read_model_card(blob, info);
  EXPECT_EQ(card.to_json(), info.at(vision::kCardKey));
  EXPECT_EQ(card.task, vision::Task::kOriented);
  EXPECT_EQ(card.family, vision::Family::kYoloEndToEnd);
  EXPECT_EQ(card.labels, std::vector<std::string>{"small ship"});
  EXPECT_EQ(card.origins.at("labels"), "metadata.yaml");
}

TEST(NpuCompileCard, GivesSizesThatTheModelLeavesOpen) {
  const TempDir dir;
  const auto model = dir.write("m.xml", test::identity_ir("f32", {-1, 3, -1, -1}));
  dir.write("preprocessor_config.json", R"({"size": {"height": 48, "width": 64}})");
  const auto result = run(model.string() + " --device software");
  ASSERT_EQ(result.code, 0) << result.output;
  EXPECT_TRUE(has(result.output, "f32[1,3,48,64]"));
  const auto other = run(model.string() + " --device software --reshape 1,3,32,32");
  EXPECT_TRUE(has(other.output, "f32[1,3,32,32]")) << "the user's word counts" << other.output;
}

TEST(NpuCompileCard, IsNotThereWhereNothingIsKnown) {
  const TempDir dir;
  const auto model = dir.write("m.xml", test::identity_ir("f32", {1, 3, 32, 32}));
  ASSERT_EQ(run(model.string() + " --device software").code, 0);
  EXPECT_TRUE(read_blob_info(dir.path() / "m.blob").model_info.empty());
}

TEST(NpuCompileCard, GivesThePreprocessing) {
  const TempDir dir;
  const auto model = dir.write("m.xml", test::identity_ir("f32", {1, 3, 32, 32}));
  dir.write("preprocessor_config.json", R"({"image_mean": [0.5, 0.4, 0.2], "image_std": 0.2,
    "do_flip_channel_order": true, "size": 32})");
  const auto compile = [&](const std::string& more) {
    const auto result = run(model.string() + " --device software --frame NV12:64x48" + more);
    EXPECT_EQ(result.code, 0) << result.output;
    return read_blob_info(dir.path() / "m.blob").frame_input->preprocess;
  };
  const auto made = compile("");
  EXPECT_EQ(made.mean, (std::vector<float>{127.5F, 102, 51}));
  EXPECT_EQ(made.scale, std::vector<float>{51});
  EXPECT_EQ(made.channels, ChannelOrder::kBGR);
  EXPECT_EQ(compile(" --mean 1 --channels rgb").mean, std::vector<float>{1});
  EXPECT_EQ(compile(" --mean 1 --channels rgb").channels, ChannelOrder::kRGB);
}

TEST(NpuCompileCard, ThatCannotBeReadIsAFailure) {
  const TempDir dir;
  const auto model = dir.write("m.xml", test::identity_ir("f32", {1, 3, 32, 32}));
  dir.write("metadata.yaml", "imgsz: large\n");
  const auto result = run(model.string() + " --device software");
  EXPECT_EQ(result.code, 1);
  EXPECT_TRUE(has(result.output, "metadata.yaml: key \"imgsz\": is \"large\""));
  EXPECT_FALSE(std::filesystem::exists(dir.path() / "m.blob"));
}

/// Options that make the software NPU the compiler library.
std::string with_library() {
  return std::string(" -p NPUCORE_COMPILER_LIBRARY='") + std::getenv("COMPILER_LIBRARY") + "'";
}

TEST(NpuCompileTest, CompilesForATargetWithoutADevice) {
  const TempDir dir;
  const auto model = dir.write("m.xml", test::identity_ir("f32", {1, 3, 32, 32}));
  dir.write("m.modelinfo", kModelInfo);
  const auto result = run(model.string() + " -o " + (dir.path() / "made.blob").string() +
                          " --target 4000 --device npu" + with_library());
  ASSERT_EQ(result.code, 0) << result.output;
  EXPECT_TRUE(has(result.output, "target  NPU 4000"));
  EXPECT_TRUE(has(result.output, "latency not estimated by this compiler"));
  EXPECT_TRUE(has(result.output, "info    "));
  EXPECT_EQ(read_blob_info(dir.path() / "made.blob").platform, "4000");
}

TEST(NpuCompileTest, OnlyEstimatesWhereThatIsAsked) {
  const TempDir dir;
  const auto model = dir.write("m.xml", test::identity_ir("f32", {1, 3, 32, 32}));
  const auto result = run(model.string() + " --estimate --target 4000" + with_library());
  ASSERT_EQ(result.code, 0) << result.output;
  EXPECT_EQ(result.output, "NPU 4000  not estimated by this compiler\n");
  EXPECT_EQ(names_in(dir.path()), (std::vector<std::string>{"m.xml"}));
}

TEST(NpuCompileTest, RefusesOneNameForSeveralTargets) {
  const auto result = run("m.xml --target 3720,4000 -o x.blob");
  EXPECT_EQ(result.code, 2);
  EXPECT_TRUE(has(result.output, "names one blob, but there are several targets"));
  EXPECT_EQ(run("m.xml --target 9000").code, 2);
}

TEST(NpuCompileTest, AnOptionOfSeveralValuesLeavesTheModelItsName) {
  for (const char* option : {"--target 4000", "--property PERF_COUNT=YES", "--reshape a=1,3"}) {
    const auto result = run(std::string(option) + " /nowhere/m.xml");
    EXPECT_TRUE(has(result.output, "/nowhere/m.xml"));
    EXPECT_EQ(result.code, 1) << option;
  }
}

TEST(NpuCompileTest, SaysWhereACompilerForTargetsComesFrom) {
  const TempDir dir;
  const auto model = dir.write("m.xml", test::identity_ir("f32", {1, 3, 32, 32}));
  const auto result =
      run(model.string() + " --target 4000 -p NPUCORE_COMPILER_LIBRARY=/nowhere/x.so");
  EXPECT_EQ(result.code, 1);
  EXPECT_TRUE(has(result.output, "scripts/setup-compiler.sh"));
}

}  // namespace
}  // namespace npu::npu_compile_test
