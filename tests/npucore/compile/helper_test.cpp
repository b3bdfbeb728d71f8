// Compilation in a helper process, with compilers that are as broken as SOFTNPU_FAULT makes them
// there.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <fstream>
#include <mutex>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

#include <npucore/compiled_model.hpp>

#include "support/samples.hpp"

#include "support.hpp"

namespace npu::test::helper_test {
namespace {

namespace fs = std::filesystem;
using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;

constexpr auto kPatience = 30s;  // with a busy machine

/// A variable of the environment, which helper processes inherit.
class Variable {
 public:
  Variable(const char* name, const std::string& value) : name_(name) {
    if (const char* before = std::getenv(name)) {
      before_ = before;
    }
    ::setenv(name, value.c_str(), 1);
  }
  Variable(const Variable&) = delete;
  Variable& operator=(const Variable&) = delete;
  ~Variable() { before_ ? ::setenv(name_, before_->c_str(), 1) : ::unsetenv(name_); }

 private:
  const char* const name_;
  std::optional<std::string> before_;
};

/// The children of a process.
std::vector<pid_t> children_of(pid_t process) {
  std::vector<pid_t> children;
  std::error_code error;
  const fs::path tasks = "/proc/" + std::to_string(process) + "/task";
  for (const auto& task : fs::directory_iterator(tasks, error)) {
    std::ifstream file(task.path() / "children");
    for (pid_t child = 0; file >> child;) children.push_back(child);
  }
  return children;
}

template <class Condition>
bool soon(const Condition& condition, std::chrono::milliseconds most = kPatience) {
  const auto deadline = Clock::now() + most;
  while (!condition()) {
    if (Clock::now() > deadline) return false;
    std::this_thread::sleep_for(1ms);
  }
  return true;
}

bool no_child_left() {
  return soon([] { return children_of(::getpid()).empty(); });
}

class Helpers : public OnSoftwareNpu {
 protected:
  void TearDown() override {
    EXPECT_TRUE(no_child_left());
    OnSoftwareNpu::TearDown();
  }
  Model model() const { return Model::read(affine_); }
  CompileJob start(const CompileOptions& options = {}) const {
    return compile_async(device_, model(), options);
  }
  /// Starts one and waits until its compiler runs.
  CompileJob start_compiling(CompileOptions options = {}) const {
    auto compiles = std::make_shared<std::atomic<bool>>(false);
    options.progress = [compiles](const CompileProgress& progress) {
      if (progress.phase == CompilePhase::kCompiling) {
        *compiles = true;
      }
    };
    CompileJob job = start(options);
    EXPECT_TRUE(soon([&] { return compiles->load(); }));
    return job;
  }
  void expect_works() const {
    const CompiledModel compiled = start().get();
    Request request = compiled.create_request();
    auto* values = reinterpret_cast<float*>(request.input(0).data());
    for (std::size_t i = 0; i < kAffineElements; ++i) values[i] = static_cast<float>(i);
    request.infer();
    const auto* results = reinterpret_cast<const float*>(request.output(0).data());
    for (std::size_t i = 0; i < kAffineElements; ++i) {
      EXPECT_EQ(results[i], affine(static_cast<float>(i)));
    }
  }

  const TempDir folder_;
  const fs::path affine_ = write_affine_model(folder_.path());
};

TEST_F(Helpers, MakeTheModelThatThisProcessMakes) {
  expect_works();
  const CompiledModel here = CompiledModel::compile(device_, model()), there = start().get();
  EXPECT_EQ(there.native_binary(), here.native_binary());
  EXPECT_EQ(there.inputs()[0].name, here.inputs()[0].name);
  EXPECT_EQ(there.outputs()[0].tensor_names, here.outputs()[0].tensor_names);
  const LoadStats one = there.load_stats(), other = here.load_stats();
  EXPECT_EQ(one.from, LoadedFrom::kCompiler);
  EXPECT_EQ(one.serializer, other.serializer);
  EXPECT_GT(one.compile_ns, 0u);
  EXPECT_GT(one.serialized_bytes, 0u);
  there.export_blob(folder_.path() / "there.blob");
  EXPECT_EQ(read_blob_info(folder_.path() / "there.blob").compiler, device_.info().compiler);
}

TEST_F(Helpers, TakeWeightsCopiedAndByAddress) {
  for (const Serializer serializer : {Serializer::kAllWeightsCopy, Serializer::kNoWeightsCopy}) {
    CompileOptions options;
    options.properties.set(property::serializer, serializer);
    const CompiledModel compiled = start(options).get();
    EXPECT_EQ(compiled.load_stats().serializer, serializer);
    EXPECT_EQ(compiled.native_binary(),
              CompiledModel::compile(device_, model(), options).native_binary());
  }
}

TEST_F(Helpers, CompileTheWeightsThatWereReadEvenIfAnotherFileIsThereNow) {
  const Model read = model();
  const auto expected = CompiledModel::compile(device_, read).native_binary();
  const float others[] = {7, 8};
  write_file(folder_.path() / "new.bin", {reinterpret_cast<const char*>(others), sizeof(others)});
  fs::rename(folder_.path() / "new.bin", folder_.path() / "affine.bin");
  EXPECT_EQ(compile_async(device_, read).get().native_binary(), expected);
  EXPECT_NE(compile_async(device_, model()).get().native_binary(), expected);
}

TEST_F(Helpers, LeaveTheCompilersWordsInTheError) {
  const Variable fault("SOFTNPU_FAULT", "pfnCreate3:MODULE_BUILD_FAILURE@1");
  expect_error(ErrorCode::kCompileFailed, "MODULE_BUILD_FAILURE", [&] { start().get(); });
}

TEST_F(Helpers, NameTheLayersThatTheirCompilerRefuses) {
  const Variable refused("SOFTNPU_REFUSE", "positive");
  expect_error(ErrorCode::kCompileFailed,
               "Bad optional access]; the compiler refuses 1 of 3 layers: 'positive' (ReLU)",
               [&] { start().get(); });
}

TEST_F(Helpers, SayWhereToSearchForALayerThatTheirCompilerDoesNotName) {
  const Variable refused("SOFTNPU_REFUSE", "quietly:positive");
  expect_error(ErrorCode::kCompileFailed, "npu-compile --why finds it", [&] { start().get(); });
}

TEST_F(Helpers, ThatEndWhileTheyAskForLayersHaveToldTheRefusal) {
  const Variable refused("SOFTNPU_REFUSE", "positive");
  for (const char* harm : {"ABORT", "HANG", "OUT_OF_HOST_MEMORY"}) {
    const Variable fault("SOFTNPU_FAULT", std::string("pfnQueryNetworkCreate2:") + harm + "@1");
    CompileOptions options;
    options.properties.set(property::compile_timeout, 2);
    expect_error(ErrorCode::kCompileFailed, "Bad optional access", [&] { start(options).get(); });
  }
}

TEST_F(Helpers, ThatAbortAreOneErrorWithTheirLastWords) {
  {
    const Variable fault("SOFTNPU_FAULT", "pfnCreate3:ABORT@1");
    const CompileJob job = start_compiling();
    EXPECT_TRUE(job.wait(kPatience)) << "the error was not told";
    try {
      job.get();
      FAIL() << "it compiled";
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::kCompileFailed) << error.what();
      EXPECT_TRUE(has(error.what(), "signal 6"));
      EXPECT_TRUE(has(error.driver_log(), "this call aborts"));
    }
  }
  EXPECT_TRUE(no_child_left());
  expect_works();
}

TEST_F(Helpers, ThatHangEndWithTheTimeLimit) {
  const Variable fault("SOFTNPU_FAULT", "pfnCreate3:HANG@1");
  CompileOptions options;
  options.properties.set(property::compile_timeout, 2);
  const auto begin = Clock::now();
  expect_error(ErrorCode::kTimeout, "NPUCORE_COMPILE_TIMEOUT", [&] { start(options).get(); });
  EXPECT_GE(Clock::now() - begin, 2s);
}

TEST_F(Helpers, ThatEatMemoryEndAtTheirLimit) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "a sanitizer's shadow memory is over any limit";
#endif
  const Variable fault("SOFTNPU_FAULT", "pfnCreate3:EAT_MEMORY@1");
  CompileOptions options;
  options.properties.set("NPUCORE_COMPILE_MEMORY", "800M");
  const CompileJob job = start_compiling(options);
  EXPECT_TRUE(job.wait(kPatience));
  expect_error(ErrorCode::kOutOfMemory, "OUT_OF_HOST_MEMORY", [&] { job.get(); });
}

TEST_F(Helpers, ThatTheKernelKillsAreOutOfMemory) {
  const Variable fault("SOFTNPU_FAULT", "pfnCreate3:HANG@1");
  const CompileJob job = start_compiling();
  const auto children = children_of(::getpid());
  ASSERT_EQ(children.size(), 1u);
  ::kill(children[0], SIGKILL);
  EXPECT_TRUE(job.wait(kPatience));
  expect_error(ErrorCode::kOutOfMemory, "when memory runs out", [&] { job.get(); });
}

TEST_F(Helpers, EndWhenTheyAreCancelledInAHangingCompiler) {
  const Variable fault("SOFTNPU_FAULT", "pfnCreate3:HANG@1");
  CompileJob job = start_compiling();
  job.cancel();
  EXPECT_TRUE(job.wait(0s));
  expect_error(ErrorCode::kCancelled, "cancelled", [&] { job.get(); });
  EXPECT_TRUE(no_child_left());
}

TEST_F(Helpers, AreCancelledInManyMoments) {
  constexpr int kMoments = 100;
  const auto begin = Clock::now();
  start().get();
  const auto whole = std::min<Clock::duration>(Clock::now() - begin, 250ms);
  for (const int moment : every_nth(kMoments, 4)) {
    CompileJob job = start();
    std::this_thread::sleep_for(whole * moment / kMoments);
    job.cancel();
    ASSERT_TRUE(job.wait(0s));
  }
  EXPECT_TRUE(no_child_left());
  expect_works();
}

TEST_F(Helpers, CompileSideBySide) {
  const Variable fault("SOFTNPU_FAULT", "pfnCreate3:HANG@1");
  std::vector<CompileJob> jobs;
  for (int i = 0; i < 3; ++i) jobs.push_back(start_compiling());
  EXPECT_EQ(children_of(::getpid()).size(), 3u);
  for (auto& job : jobs) job.cancel();
}

TEST_F(Helpers, CompileForCompileIfThePropertySaysSo) {
  const Variable fault("SOFTNPU_FAULT", "pfnCreate3:ABORT@1");
  CompileOptions options;
  options.properties.set(property::compile_in, "helper");
  expect_error(ErrorCode::kCompileFailed, "signal 6",
               [&] { CompiledModel::compile(device_, model(), options); });
}

TEST_F(Helpers, AreChosenByTheEnvironmentAndBeforeItByTheProperty) {
  const Variable fault("SOFTNPU_FAULT", "pfnCreate3:ABORT@1");
  const Variable choice("NPUCORE_COMPILE", "in-process");
  EXPECT_EQ(start().get().load_stats().from, LoadedFrom::kCompiler);
  CompileOptions options;
  options.properties.set(property::compile_in, "helper");
  expect_error(ErrorCode::kCompileFailed, "signal 6", [&] { start(options).get(); });
  {
    const Variable empty("NPUCORE_COMPILE", "");  // as if it were not there
    expect_error(ErrorCode::kCompileFailed, "signal 6", [&] { start().get(); });
  }
  const Variable wrong("NPUCORE_COMPILE", "elsewhere");
  expect_error(ErrorCode::kInvalidArgument, "use one of in-process, helper",
               [&] { start().get(); });
}

/// Messages of the library, while one lives.
class Messages {
 public:
  Messages() {
    set_log_sink([this](LogLevel level, std::string_view words) {
      std::scoped_lock lock(mutex_);
      if (level == LogLevel::kWarning) {
        warnings_.emplace_back(words);
      }
    });
  }
  Messages(const Messages&) = delete;
  Messages& operator=(const Messages&) = delete;
  ~Messages() { set_log_sink({}); }

  std::vector<std::string> warnings() {
    std::scoped_lock lock(mutex_);
    return warnings_;
  }

 private:
  std::mutex mutex_;  // guards warnings_
  std::vector<std::string> warnings_;
};

TEST_F(Helpers, ThatAreMissingAreToldOnceAndThisProcessCompiles) {
  Messages messages;
  for (const char* program : {"/no/such/helper", "/bin/true", "/etc/passwd"}) {
    const Variable path("NPUCORE_HELPER_PATH", program);
    expect_works();
  }
  static bool told = false;  // once in a process: a repeated test hears nothing
  ASSERT_EQ(messages.warnings().size(), told ? 0u : 1u);
  if (!std::exchange(told, true)) {
    EXPECT_TRUE(has(messages.warnings()[0], "/no/such/helper: No such file"));
  }
}

TEST_F(Helpers, ThatCannotOpenTheDeviceLeaveItToThisProcess) {
  const Variable fault("SOFTNPU_FAULT", "zeContextCreate:UNINITIALIZED@1+");
  expect_works();
}

TEST_F(Helpers, DoNotNeedTheApplicationsSignalHandler) {
  struct sigaction before = {}, reaps = {};
  reaps.sa_handler = [](int) {
    const int error = errno;
    while (::waitpid(-1, nullptr, WNOHANG) > 0) {
    }
    errno = error;
  };
  ::sigaction(SIGCHLD, &reaps, &before);
  expect_works();
  const Variable fault("SOFTNPU_FAULT", "pfnCreate3:ABORT@1");
  expect_error(ErrorCode::kCompileFailed, "is gone: it", [&] { start().get(); });
  ::sigaction(SIGCHLD, &before, nullptr);
}

TEST_F(Helpers, AreCompiledByWithACacheThatThisProcessFills) {
  CompileOptions options;
  options.properties.set(property::cache_dir, (folder_.path() / "cache").string());
  EXPECT_EQ(start(options).get().load_stats().from, LoadedFrom::kCompiler);
  EXPECT_EQ(start(options).get().load_stats().from, LoadedFrom::kCache);
}

/// A process that compiles and then ends in one way or another; see helper_parent.cpp.
class Parent {
 public:
  Parent(const fs::path& model, const char* how,
         std::vector<std::pair<const char*, const char*>> environment) {
    int input[2] = {}, output[2] = {};
    if (::pipe2(input, O_CLOEXEC) != 0 || ::pipe2(output, O_CLOEXEC) != 0) {
      throw std::runtime_error("pipe failed");
    }
    const char* program = std::getenv("HELPER_PARENT");
    if (!program) throw std::runtime_error("HELPER_PARENT is not set");
    pid_ = ::fork();
    if (pid_ == 0) {
      for (const auto& [name, value] : environment) ::setenv(name, value, 1);
      ::dup2(input[0], STDIN_FILENO);
      ::dup2(output[1], STDOUT_FILENO);
      ::execl(program, program, model.c_str(), how, static_cast<char*>(nullptr));
      ::_exit(127);
    }
    ::close(input[0]);
    ::close(output[1]);
    input_ = input[1];
    output_ = output[0];
  }
  Parent(const Parent&) = delete;
  Parent& operator=(const Parent&) = delete;
  ~Parent() {
    ::close(input_);
    ::close(output_);
  }

  pid_t pid() const { return pid_; }
  /// Lets one that exits do so.
  void let_go() const { EXPECT_EQ(::write(input_, "\n", 1), 1); }
  /// The line that it prints, with its line end, or without if the output ends first.
  std::string read_line() const {
    std::string line;
    for (char c = 0; ::read(output_, &c, 1) == 1;) {
      line += c;
      if (c == '\n') break;
    }
    return line;
  }
  int wait() const {
    int status = -1;
    ::waitpid(pid_, &status, 0);
    return status;
  }

 private:
  pid_t pid_ = -1;
  int input_ = -1, output_ = -1;
};

class HelpersOfAnEndingProcess : public ::testing::Test {
 protected:
  const TempDir folder_;
  const fs::path model_ = write_affine_model(folder_.path());
};

TEST_F(HelpersOfAnEndingProcess, EndWhenItIsKilled) {
  const Parent parent(model_, "wait", {{"SOFTNPU_FAULT", "pfnCreate3:HANG@1"}});
  ASSERT_EQ(parent.read_line(), "compiling\n");
  const auto helpers = children_of(parent.pid());
  ASSERT_EQ(helpers.size(), 1u);
  ::kill(parent.pid(), SIGKILL);
  parent.wait();
  EXPECT_TRUE(soon([&] { return !fs::exists("/proc/" + std::to_string(helpers[0]) + "/exe"); }));
}

TEST_F(HelpersOfAnEndingProcess, LetItsExitHandlersRun) {
  for (const char* how : {"exit", "exit-other-thread"}) {
    const Parent parent(model_, how, {{"SOFTNPU_FAULT", "pfnCreate3:HANG@1"}});
    ASSERT_EQ(parent.read_line(), "compiling\n");
    const auto helpers = children_of(parent.pid());
    parent.let_go();  // the compiler hangs: nobody may wait for it
    EXPECT_EQ(parent.read_line(), "exit handler\n") << how;
    EXPECT_EQ(parent.read_line(), "static destructor\n") << how;
    const int status = parent.wait();
    EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 7) << how << ' ' << status;
    ASSERT_EQ(helpers.size(), 1u);
    EXPECT_TRUE(soon([&] { return !fs::exists("/proc/" + std::to_string(helpers[0]) + "/exe"); }));
  }
}

/// Without a helper, it is the library that ends the process. With one, exit() is the C library's
/// own: from glibc 2.38 on it waits for who reads a stream.
TEST_F(HelpersOfAnEndingProcess, AreNotThereAndAThreadReadsStandardInput) {
  const Parent parent(model_, "exit-while-reading",
                      {{"NPUCORE_COMPILE", "in-process"}, {"SOFTNPU_FAULT", "pfnCreate3:HANG@1"}});
  ASSERT_EQ(parent.read_line(), "compiling\n");
  const bool ended = soon([&] {
    siginfo_t end = {};
    return ::waitid(P_PID, static_cast<id_t>(parent.pid()), &end, WEXITED | WNOHANG | WNOWAIT) ==
               0 &&
           end.si_pid == parent.pid();
  });
  EXPECT_TRUE(ended);
  if (!ended) {
    ::kill(parent.pid(), SIGKILL);
  }
  const int status = parent.wait();
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 7) << status;
}

/// An IR of one multiplication by 16 MiB of weights.
fs::path write_heavy_model(const fs::path& folder) {
  IrWriter ir("heavy");
  const auto x = ir.parameter("x", "f32", {1, 2048});
  const std::string weights(std::size_t{16} << 20, '\x3c');
  ir.result(ir.layer("MatMul", {x, ir.constant("w", "f32", {2048, 2048}, weights)},
                     {.data = "transpose_a=\"false\" transpose_b=\"false\""}));
  return ir.write(folder, "heavy");
}

TEST_F(HelpersOfAnEndingProcess, LeaveNoMemoryOfTheCompilersInIt) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "a sanitizer keeps what was freed, and memory of its own";
#endif
  const fs::path heavy = write_heavy_model(folder_.path());
  const auto anonymous_kb = [&](const char* place) {
    const Parent parent(heavy, "memory", {{"NPUCORE_COMPILE", place}, {"SOFTNPU_EXEC", "null"}});
    const std::string line = parent.read_line();
    EXPECT_EQ(parent.wait(), 0);
    return std::stol(line);
  };
  const long here = anonymous_kb("in-process"), with_helper = anonymous_kb("helper");
  constexpr long kBlobKb = 16384, kMoreKb = 5000;
  EXPECT_GT(here, kBlobKb);
  EXPECT_LT(with_helper, kBlobKb);
  EXPECT_LT(with_helper, here + kMoreKb);
}

TEST_F(HelpersOfAnEndingProcess, AreNotStoppedByItsTerminalsInterrupt) {
  const Parent parent(model_, "wait", {{"SOFTNPU_FAULT", "pfnCreate3:HANG@1"}});
  ASSERT_EQ(parent.read_line(), "compiling\n");
  const auto helpers = children_of(parent.pid());
  ASSERT_EQ(helpers.size(), 1u);
  EXPECT_NE(::getpgid(helpers[0]), ::getpgid(parent.pid()));
  ::kill(parent.pid(), SIGKILL);
  parent.wait();
}

}  // namespace
}  // namespace npu::test::helper_test
