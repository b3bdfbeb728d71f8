#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <functional>
#include <thread>
#include <vector>

#include <npucore/compiled_model.hpp>

#include "support/samples.hpp"

#include "support.hpp"

namespace npu::test {
namespace {

constexpr int kLong = 60;  // steps of a model that takes tens of milliseconds to compile

CompileOptions in_process() {
  CompileOptions options;
  options.properties.set(property::compile_in, "in-process");
  return options;
}

class CompileJobs : public OnSoftwareNpu {
 protected:
  Model affine_model() const { return Model::read(affine_); }
  Model long_model() const { return Model::read(long_); }

  const TempDir folder_;
  // Written once: a compilation that was cancelled may still read what is mapped.
  const std::filesystem::path affine_ = write_affine_model(folder_.path());
  const std::filesystem::path long_ = write_long_model(folder_.path(), kLong);
};

TEST_F(CompileJobs, GiveTheModelThatCompileGives) {
  const CompileJob job = compile_async(device_, affine_model());
  const CompiledModel model = job.get();
  EXPECT_EQ(model.inputs()[0].name, "input");
  EXPECT_EQ(job.progress().phase, CompilePhase::kDone);
  EXPECT_TRUE(job.wait(std::chrono::nanoseconds(0)));
}

TEST_F(CompileJobs, AreWaitedForHoweverLongTheLimit) {
  const CompileJob job = compile_async(device_, long_model());
  EXPECT_TRUE(job.wait(std::chrono::nanoseconds::max() - std::chrono::nanoseconds(1)));
}

TEST_F(CompileJobs, NeedNothingOfTheCallersToLiveOn) {
  CompileJob job = [&] {
    const Model model = affine_model();
    const CompileOptions options;
    return compile_async(device_, model, options);
  }();
  EXPECT_EQ(job.get().get_property("NETWORK_NAME"), "affine");
}

TEST_F(CompileJobs, GoThroughTheirPhasesInOrder) {
  std::vector<CompilePhase> phases;
  CompileOptions options;
  options.progress = [&](const CompileProgress& progress) { phases.push_back(progress.phase); };
  compile_async(device_, affine_model(), options).wait();
  ASSERT_GE(phases.size(), 4u);
  EXPECT_EQ(phases.front(), CompilePhase::kWaiting);
  EXPECT_EQ(phases.back(), CompilePhase::kDone);
  EXPECT_TRUE(std::is_sorted(phases.begin(), phases.end()));
  EXPECT_NE(std::find(phases.begin(), phases.end(), CompilePhase::kCompiling), phases.end());
}

TEST_F(CompileJobs, ThrowWhatCompileThrows) {
  CompileOptions options;
  options.properties.set(property::tiles, 99);
  const CompileJob job = compile_async(device_, affine_model(), options);
  EXPECT_TRUE(job.wait());
  expect_error(ErrorCode::kInvalidArgument, "NPU_TILES is 99", [&] { job.get(); });
}

TEST_F(CompileJobs, AreLeftAloneByAForkedChild) {
  const CompileJob job =
      compile_async(device_, Model::read(write_long_model(folder_.path(), 10 * kLong)));
  while (job.progress().phase != CompilePhase::kCompiling) std::this_thread::yield();
  const pid_t child = ::fork();
  if (child == 0) {
    ::alarm(60);
    int refused = 0;
    const std::function<void()> calls[] = {[&] { job.progress(); }, [&] { job.wait(); },
                                           [&] { job.get(); }};
    for (const auto& call : calls) {
      try {
        call();
      } catch (const Error& error) {
        refused += error.code() == ErrorCode::kUnsupported;
      }
    }
    CompileJob(job).cancel();
    ::_exit(refused == 3 ? 0 : 1);
  }
  int status = -1;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0) << "signal " << WTERMSIG(status);
  EXPECT_NO_THROW(job.get()) << "the child has ended the parent's helper process";
}

TEST_F(CompileJobs, RunOneAfterTheOtherInThisProcess) {
  std::atomic<int> inside = 0, most = 0;
  CompileOptions options = in_process();
  options.progress = [&](const CompileProgress& progress) {
    if (progress.phase == CompilePhase::kSerializing) {
      most = std::max(most.load(), ++inside);
    }
    if (progress.phase == CompilePhase::kDone) return;
    if (progress.phase == CompilePhase::kCompiling) {
      --inside;
    }
  };
  std::vector<CompileJob> jobs;
  for (int i = 0; i < 4; ++i) jobs.push_back(compile_async(device_, affine_model(), options));
  for (const auto& job : jobs) job.get();
  EXPECT_EQ(most, 1);
}

/// Waits until no cancelled compilation is left in the driver.
void settle(const Device& device, const Model& model) {
  compile_async(device, model, in_process()).wait();
}

class CancelledJobs : public CompileJobs, public ::testing::WithParamInterface<const char*> {};

TEST_P(CancelledJobs, EndWhereverTheyAre) {
  for (const CompilePhase where :
       {CompilePhase::kWaiting, CompilePhase::kSerializing, CompilePhase::kCompiling}) {
    std::atomic<bool> there = false;
    CompileOptions options;
    options.properties.set(property::compile_in, GetParam());
    options.progress = [&](const CompileProgress& progress) {
      if (progress.phase == where) {
        there = true;
      }
    };
    CompileJob job = compile_async(device_, long_model(), options);
    while (!there) std::this_thread::yield();
    job.cancel();
    EXPECT_TRUE(job.wait(std::chrono::nanoseconds(0)));
    expect_error(ErrorCode::kCancelled, "cancelled", [&] { job.get(); });
    settle(device_, affine_model());
  }
}

TEST_P(CancelledJobs, AreNotToldOfOnceCancelHasReturned) {
  std::atomic<bool> inside = false, returned = false;
  std::atomic<int> late = 0;
  CompileOptions options;
  options.properties.set(property::compile_in, GetParam());
  options.progress = [&](const CompileProgress& progress) {
    late += returned;
    if (progress.phase != CompilePhase::kSerializing) return;
    inside = true;
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    late += returned;
  };
  CompileJob job = compile_async(device_, affine_model(), options);
  while (!inside) std::this_thread::yield();
  job.cancel();
  returned = true;
  settle(device_, affine_model());
  EXPECT_EQ(late, 0);
}

TEST_P(CancelledJobs, MayBeCancelledWhereTheyTell) {
  std::atomic<CompileJob*> job = nullptr;
  CompileOptions options;
  options.properties.set(property::compile_in, GetParam());
  options.progress = [&](const CompileProgress& progress) {
    if (progress.phase != CompilePhase::kSerializing) return;
    while (!job) std::this_thread::yield();
    job.load()->cancel();
  };
  CompileJob started = compile_async(device_, affine_model(), options);
  job = &started;
  EXPECT_TRUE(started.wait(std::chrono::seconds(10)));
  expect_error(ErrorCode::kCancelled, "cancelled", [&] { started.get(); });
  settle(device_, affine_model());
}

INSTANTIATE_TEST_SUITE_P(Rows, CancelledJobs, ::testing::Values("helper", "in-process"),
                         [](const auto& row) {
                           return std::string(row.param == std::string("helper") ? "helper"
                                                                                 : "here");
                         });

TEST_F(CompileJobs, ThatWaitForTheirTurnNeverStartWhenCancelled) {
  std::atomic<bool> first_compiles = false, second_compiles = false, let_go = false;
  CompileOptions first = in_process(), second = in_process();
  first.progress = [&](const CompileProgress& progress) {
    if (progress.phase != CompilePhase::kCompiling) return;
    first_compiles = true;
    while (!let_go) std::this_thread::yield();
  };
  second.progress = [&](const CompileProgress& progress) {
    if (progress.phase == CompilePhase::kCompiling) {
      second_compiles = true;
    }
  };
  const CompileJob slow = compile_async(device_, affine_model(), first);
  while (!first_compiles) std::this_thread::yield();
  CompileJob waiting = compile_async(device_, affine_model(), second);
  waiting.cancel();
  let_go = true;
  slow.get();
  settle(device_, affine_model());
  EXPECT_FALSE(second_compiles);
}

TEST_F(CompileJobs, ThatAreDoneKeepTheirResultWhenCancelled) {
  CompileJob job = compile_async(device_, affine_model());
  job.wait();
  job.cancel();
  EXPECT_EQ(job.get().inputs().size(), 1u);
}

struct Ended {
  int status = 0;
  std::string printed;
};

TEST_F(CompileJobs, InProcessRefuseToCompileInTheirProgress) {
  CompileOptions options = in_process();
  options.progress = [&](const CompileProgress& progress) {
    if (progress.phase != CompilePhase::kSerializing) return;
    expect_error(ErrorCode::kInvalidArgument, "would wait for itself",
                 [&] { CompiledModel::compile(device_, affine_model(), in_process()); });
  };
  CompiledModel::compile(device_, affine_model(), options);
  CompiledModel::compile(device_, affine_model(), in_process());
}

// The lock of an entry is for other processes; one's own thread would wait a minute for it.
TEST_F(CompileJobs, InProcessRefuseToCompileInTheirProgressBesideACacheToo) {
  const TempDir folder;
  const auto cached = [&] {
    CompileOptions options = in_process();
    options.properties.set(property::cache_dir, folder.path().string());
    return options;
  };
  CompileOptions options = cached();
  std::chrono::steady_clock::duration waited{};
  options.progress = [&](const CompileProgress& progress) {
    if (progress.phase != CompilePhase::kSerializing) return;
    const auto begin = std::chrono::steady_clock::now();
    expect_error(ErrorCode::kInvalidArgument, "would wait for itself",
                 [&] { CompiledModel::compile(device_, affine_model(), cached()); });
    waited = std::chrono::steady_clock::now() - begin;
  };
  CompiledModel::compile(device_, affine_model(), options);
  EXPECT_LT(waited, std::chrono::seconds(30));
}

struct LeavingRow {
  const char* name;
  const char* how;
  const char* place;  ///< NPUCORE_COMPILE
  int first = 0;      ///< of the moments that are tried
};

/// Runs the program that starts a compilation and leaves; see cancel_and_exit.cpp.
Ended run_and_leave(const std::string& model, int wait_us, const LeavingRow& row) {
  int ends[2] = {};
  if (::pipe(ends) != 0) throw std::runtime_error("pipe failed");
  const std::string wait = std::to_string(wait_us);
  const char* program = std::getenv("CANCEL_AND_EXIT");
  if (!program) throw std::runtime_error("CANCEL_AND_EXIT is not set");
  const pid_t child = ::fork();
  if (child == 0) {
    ::dup2(ends[1], STDOUT_FILENO);
    ::setenv("NPUCORE_COMPILE", row.place, 1);
    ::execl(program, program, model.c_str(), wait.c_str(), row.how, static_cast<char*>(nullptr));
    ::_exit(127);
  }
  ::close(ends[1]);
  Ended ended;
  char text[256];
  for (ssize_t size = 0; (size = ::read(ends[0], text, sizeof(text))) > 0;) {
    ended.printed.append(text, static_cast<std::size_t>(size));
  }
  ::close(ends[0]);
  ::waitpid(child, &ended.status, 0);
  return ended;
}

class LeavingMidway : public ::testing::TestWithParam<LeavingRow> {};

TEST_P(LeavingMidway, EndsWithTheProgramsOwnExitCode) {
  const TempDir folder;
  const std::string model = write_long_model(folder.path(), kLong);
  constexpr int kTimes = 40, kStepUs = 4000, kRows = 6;
  for (const int round : every_nth(kTimes, kRows, GetParam().first)) {
    const Ended ended = run_and_leave(model, round * kStepUs, GetParam());
    ASSERT_TRUE(WIFEXITED(ended.status))
        << "round " << round << " died of signal " << WTERMSIG(ended.status);
    ASSERT_EQ(WEXITSTATUS(ended.status), 7) << "round " << round;
    ASSERT_EQ(ended.printed, "bye") << "round " << round << ": stdio was not flushed";
  }
}

TEST(Leaving, DoesNotWaitForAProgressFunctionForEver) {
  const TempDir folder;
  const std::string model = write_affine_model(folder.path());
  const Ended ended = run_and_leave(model, 300'000, {"", "busy", "helper"});
  EXPECT_TRUE(WIFEXITED(ended.status) && WEXITSTATUS(ended.status) == 7) << ended.status;
  EXPECT_EQ(ended.printed, "bye");
}

INSTANTIATE_TEST_SUITE_P(Rows, LeavingMidway,
                         ::testing::Values(LeavingRow{"cancel", "cancel", "helper", 0},
                                           LeavingRow{"forget", "forget", "helper", 1},
                                           LeavingRow{"other_thread", "other-thread", "helper", 2},
                                           LeavingRow{"cancel_here", "cancel", "in-process", 3},
                                           LeavingRow{"forget_here", "forget", "in-process", 4},
                                           LeavingRow{"other_thread_here", "other-thread",
                                                      "in-process", 5}),
                         by_name);

}  // namespace
}  // namespace npu::test
