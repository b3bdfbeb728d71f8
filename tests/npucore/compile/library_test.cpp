// Compilation by a compiler library, without a device and for one: the software NPU is such a
// library too. COMPILER_LIBRARY is its path, SERVE_WITHOUT_FILES a program that serves it.
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include <algorithm>
#include <chrono>
#include <fstream>
#include <optional>
#include <thread>

#include <npucore/compiler.hpp>

#include "support.hpp"

namespace npu::test::library_test {
namespace {

using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;

std::string variable(const char* name) {
  const char* value = std::getenv(name);
  return value ? value : "";
}

CompileOptions with_library(const std::string& library = variable("COMPILER_LIBRARY")) {
  CompileOptions options;
  options.properties.set(property::compiler_library, library);
  return options;
}

CompileOptions of_type(const char* type,
                       const std::string& library = variable("COMPILER_LIBRARY")) {
  CompileOptions options = with_library(library);
  options.properties.set(property::compiler_type, type);
  return options;
}

/// A variable that helper processes inherit.
class Variable {
 public:
  Variable(const char* name, const char* value) : name_(name) { ::setenv(name, value, 1); }
  Variable(const Variable&) = delete;
  Variable& operator=(const Variable&) = delete;
  ~Variable() { ::unsetenv(name_); }

 private:
  const char* const name_;
};

bool no_child_left() {
  const auto deadline = Clock::now() + 30s;
  while (Clock::now() < deadline) {
    if (::waitpid(-1, nullptr, WNOHANG) < 0) return true;  // ECHILD: none, not even a dead one
    std::this_thread::sleep_for(1ms);
  }
  return false;
}

float first_output(const CompiledModel& compiled, float input) {
  Request request = compiled.create_request();
  auto* const values = reinterpret_cast<float*>(request.input(0).data());
  std::fill_n(values, kAffineElements, input);
  request.submit();
  request.wait();
  return *reinterpret_cast<const float*>(request.output(0).data());
}

/// A program that says that it is ready, prints a lot when it is asked, and ends.
std::string write_chatterer(const std::filesystem::path& folder) {
  const auto program = folder / "chatterer";
  // "ready" as one record: header, then kind 't' without a name.
  write_file(program,
             "#!/bin/sh\n"
             "printf 'NPUH\\002\\000\\000\\000\\022\\000\\000\\000\\000\\000\\000\\000'\n"
             "printf '\\000\\000\\000\\000\\000\\000\\000\\000'\n"
             "printf 't\\000\\000\\000\\000\\005\\000\\000\\000\\000\\000\\000\\000ready'\n"
             "head -c 1 >/dev/null\nseq 1 100 >&2\necho last words >&2\n");
  std::filesystem::permissions(program, std::filesystem::perms::owner_all);
  return program.string();
}

class Libraries : public OnSoftwareNpu {
 protected:
  void TearDown() override {
    EXPECT_TRUE(no_child_left());
    OnSoftwareNpu::TearDown();
  }
  TempDir dir_;
  const Model model_ = Model::read(write_affine_model(dir_.path()));
  const CompileTarget target_{"4000", 0};
};

TEST_F(Libraries, CompileForATargetWhatADeviceRuns) {
  const TargetBlob blob = compile_for(target_, model_, with_library());
  const auto compiled = CompiledModel::import(device_, blob.file);
  EXPECT_EQ(first_output(compiled, 3), affine(3));
  EXPECT_EQ(compiled.inputs()[0].tensor_names, model_.inputs()[0].tensor_names);
  EXPECT_GT(blob.stats.compile_ns, 0U);
  EXPECT_LT(blob.native_bytes, blob.file.size());
}

TEST_F(Libraries, WeightsByAddressAndCopiedComputeTheSame) {
  for (const Serializer serializer : {Serializer::kNoWeightsCopy, Serializer::kAllWeightsCopy}) {
    CompileOptions options = with_library();
    options.properties.set(property::serializer, serializer);
    const TargetBlob blob = compile_for(target_, model_, options);
    EXPECT_EQ(blob.stats.serializer, serializer);
    EXPECT_EQ(first_output(CompiledModel::import(device_, blob.file), 5), affine(5));
  }
}

/// The constants of add_preprocess() are not in the .bin.
TEST_F(Libraries, ReachConstantsThatAreNotInTheFile) {
  const FrameLayout frame = FrameLayout::tight(PixelFormat::kRGB, 4, 4);
  Model model = model_;
  model.add_preprocess(model.default_preprocess(frame));
  const TargetBlob blob = compile_for(target_, model, with_library());
  const auto compiled = CompiledModel::import(device_, blob.file);
  ASSERT_TRUE(compiled.frame_input());
  EXPECT_EQ(compiled.frame_input()->preprocess.frame.describe(), frame.describe());
}

TEST_F(Libraries, AreServedByProgramsThatTakeNoFiles) {
  const TargetBlob blob =
      compile_for(target_, model_, with_library(variable("SERVE_WITHOUT_FILES")));
  EXPECT_EQ(blob.stats.serializer, Serializer::kNoWeightsCopy);
  EXPECT_EQ(blob.file, compile_for(target_, model_, with_library()).file);
}

TEST_F(Libraries, TellWhatTheyAre) {
  const auto info = compiler_info(target_, with_library().properties);
  EXPECT_EQ(info.library, variable("COMPILER_LIBRARY"));
  EXPECT_EQ(info.interface.major, 7U);
  EXPECT_EQ(info.compiler, device_.info().compiler);
  EXPECT_NE(std::find(info.options.begin(), info.options.end(), "PERF_COUNT"), info.options.end());
}

TEST_F(Libraries, TellWhichLayersTheTargetRuns) {
  const auto layers = query_supported(target_, model_, with_library());
  ASSERT_FALSE(layers.empty());
  for (const auto& layer : layers) EXPECT_TRUE(layer.supported) << layer.name;
  EXPECT_TRUE(std::any_of(layers.begin(), layers.end(),
                          [](const LayerSupport& layer) { return layer.type == "ReLU"; }));
}

TEST_F(Libraries, NameTheLayersThatTheyRefuse) {
  const Variable refused("SOFTNPU_REFUSE", "positive");
  constexpr const char* kNamed = "the compiler refuses 1 of 3 layers: 'positive' (ReLU)";
  expect_error(ErrorCode::kCompileFailed, kNamed,
               [&] { compile_for(target_, model_, with_library()); });
  expect_error(ErrorCode::kCompileFailed, kNamed,
               [&] { CompiledModel::compile(device_, model_, of_type("PLUGIN")); });
  for (const auto& layer : query_supported(target_, model_, with_library())) {
    EXPECT_EQ(layer.supported, layer.name != "positive") << layer.name;
  }
  const Variable fault("SOFTNPU_FAULT", "vclQueryNetworkCreate:ABORT@1");
  expect_error(ErrorCode::kCompileFailed, "vclExecutableCreate: INVALID_ARGUMENT",
               [&] { compile_for(target_, model_, with_library()); });
}

TEST_F(Libraries, CompileForADeviceWherePluginIsAsked) {
  for (const char* type : {"PLUGIN", "PREFER_PLUGIN"}) {
    const auto compiled = CompiledModel::compile(device_, model_, of_type(type));
    EXPECT_EQ(first_output(compiled, -7), affine(-7)) << type;
    EXPECT_EQ(compiled.load_stats().from, LoadedFrom::kCompiler);
  }
}

TEST_F(Libraries, AreOnlyPreferredWhereThereAreNone) {
  const auto compiled =
      CompiledModel::compile(device_, model_, of_type("PREFER_PLUGIN", "/nowhere/libx.so"));
  EXPECT_EQ(first_output(compiled, 2), affine(2));
  expect_error(ErrorCode::kNotFound, "/nowhere/libx.so", [&] {
    CompiledModel::compile(device_, model_, of_type("PLUGIN", "/nowhere/libx.so"));
  });
}

TEST_F(Libraries, HaveCacheEntriesOfTheirOwn) {
  const auto compile = [&](CompileOptions options) {
    options.properties.set(property::cache_dir, (dir_.path() / "cache").string());
    return CompiledModel::compile(device_, model_, options).load_stats().from;
  };
  EXPECT_EQ(compile(of_type("DRIVER")), LoadedFrom::kCompiler);
  EXPECT_EQ(compile(of_type("PLUGIN")), LoadedFrom::kCompiler);
  EXPECT_EQ(compile(of_type("PLUGIN")), LoadedFrom::kCache);
}

TEST_F(Libraries, SayWhereTheyComeFromWhereThereAreNone) {
  for (const char* library : {"/nowhere/libx.so", "/nowhere/program", "", "/bin/true"}) {
    expect_error(ErrorCode::kNotFound, "scripts/setup-compiler.sh",
                 [&] { compile_for(target_, model_, with_library(library)); });
  }
  expect_error(ErrorCode::kIncompatible, "it is no NPU compiler",
               [&] { compile_for(target_, model_, with_library("libdl.so.2")); });
}

TEST_F(Libraries, AreNotAskedForTargetsThatDoNotExist) {
  expect_error(ErrorCode::kInvalidArgument, "use one of 3720, 4000, 5010, 5020, 6010", [&] {
    compile_for({"4001", 0}, model_, with_library());
  });
  expect_error(ErrorCode::kInvalidArgument, "at most 6 tiles, not 7", [&] {
    compile_for({"4000", 7}, model_, with_library());
  });
}

TEST_F(Libraries, RefuseOptionsInTheirOwnWords) {
  CompileOptions options = with_library();
  options.config["NO_SUCH_OPTION"] = "1";
  try {
    compile_for(target_, model_, options);
    ADD_FAILURE() << "it was taken";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::kCompileFailed);
    EXPECT_TRUE(has(error.what(), "compiling model"));
    EXPECT_TRUE(has(error.driver_log(), "NO_SUCH_OPTION"));
  }
}

struct BrokenRow {
  const char* name;
  const char* fault;
  ErrorCode code;
  const char* message;
};

class BrokenLibraries : public Libraries, public ::testing::WithParamInterface<BrokenRow> {};

TEST_P(BrokenLibraries, AreOneErrorAndLeaveNothing) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  if (GetParam().code == ErrorCode::kOutOfMemory) {
    GTEST_SKIP() << "a sanitizer's shadow memory is over any limit";
  }
#endif
  const Variable fault("SOFTNPU_FAULT", GetParam().fault);
  CompileOptions options = with_library();
  if (GetParam().code == ErrorCode::kTimeout) {
    options.properties.set(property::compile_timeout, 2);
  }
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
  options.properties.set(property::compile_memory, std::uint64_t{1} << 30);
#endif
  expect_error(GetParam().code, GetParam().message, [&] { compile_for(target_, model_, options); });
  EXPECT_TRUE(no_child_left());
}

INSTANTIATE_TEST_SUITE_P(
    Rows, BrokenLibraries,
    ::testing::Values(BrokenRow{"abort", "vclExecutableCreate:ABORT@1", ErrorCode::kCompileFailed,
                                "signal 6"},
                      BrokenRow{"hang", "vclExecutableCreate:HANG@1", ErrorCode::kTimeout,
                                "NPUCORE_COMPILE_TIMEOUT"},
                      BrokenRow{"no_memory", "vclExecutableCreate:EAT_MEMORY@1",
                                ErrorCode::kOutOfMemory, "OUT_OF_MEMORY"},
                      BrokenRow{"create", "vclCompilerCreate:ERROR_UNKNOWN@1",
                                ErrorCode::kCompileFailed, "vclCompilerCreate"},
                      BrokenRow{"blob", "vclExecutableGetSerializableBlob:ERROR_UNKNOWN@2",
                                ErrorCode::kCompileFailed, "vclExecutableGetSerializableBlob"}),
    by_name);

/// The compiler prints hundreds of lines when it is asked for an estimate.
TEST_F(Libraries, EndWithTheirLastWordsAlone) {
  const std::string chatter = write_chatterer(dir_.path());
  try {
    compile_for(target_, model_, with_library(chatter));
    ADD_FAILURE() << "it compiled";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::kCompileFailed) << error.what();
    EXPECT_EQ(error.driver_log(), "92\n93\n94\n95\n96\n97\n98\n99\n100\nlast words\n");
  }
}

/// The program may be Wine, for example, where it is not installed.
TEST_F(Libraries, SayWhyTheirProgramsDoNotStart) {
  const auto program = dir_.path() / "program";
  write_file(program, "#!/bin/sh\necho 'wine64: not found' >&2\nexit 127\n");
  std::filesystem::permissions(program, std::filesystem::perms::owner_all);
  expect_error(ErrorCode::kNotFound, "exit code 127; the last that it printed: wine64: not found;",
               [&] { compile_for(target_, model_, with_library(program.string())); });
}

/// A script may start what serves the library instead of becoming it.
TEST_F(Libraries, LeaveNothingThatTheirProgramsStarted) {
  const auto program = dir_.path() / "program", started = dir_.path() / "started";
  write_file(program, "#!/bin/sh\nsleep 60 &\necho $! > " + started.string() + "\nwait\n");
  std::filesystem::permissions(program, std::filesystem::perms::owner_all);
  CompileOptions options = with_library(program.string());
  options.properties.set(property::compile_timeout, 3);  // by then it has started it
  expect_error(ErrorCode::kTimeout, "NPUCORE_COMPILE_TIMEOUT",
               [&] { compile_for(target_, model_, options); });
  pid_t pid = 0;
  std::ifstream(started) >> pid;
  ASSERT_GT(pid, 0);
  const auto deadline = Clock::now() + 30s;
  while (::kill(pid, 0) == 0 && Clock::now() < deadline) std::this_thread::sleep_for(1ms);
  EXPECT_NE(::kill(pid, 0), 0) << pid;
  ::kill(pid, SIGKILL);
}

/// The system's loader would wait for whoever writes.
TEST_F(Libraries, AreNoFifos) {
  const std::string fifo = (dir_.path() / "compiler.so").string();
  ASSERT_EQ(::mkfifo(fifo.c_str(), S_IRUSR | S_IWUSR), 0);
  CompileOptions options = with_library(fifo);
  options.properties.set(property::compile_timeout, 5);
  expect_error(ErrorCode::kNotFound, "is a FIFO", [&] { compile_for(target_, model_, options); });
}

TEST_F(Libraries, AreEndedByACancelAtAnyMoment) {
  const Variable fault("SOFTNPU_FAULT", "vclExecutableCreate:HANG@1");
  for (int i = 0; i < 20; ++i) {
    CompileJob job = compile_async(device_, model_, of_type("PLUGIN"));
    std::this_thread::sleep_for(i * 3ms);
    job.cancel();
    expect_error(ErrorCode::kCancelled, "cancelled", [&] { job.get(); });
  }
}

}  // namespace
}  // namespace npu::test::library_test
