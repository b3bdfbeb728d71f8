// Children of a process that uses the NPU: each public call there is refused in words, and the
// child ends as any other. What the parent has is in lifetime_test.cpp.
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include <npucore/npucore.hpp>

#include "support/test_dmabuf.hpp"

#include "support.hpp"

namespace npu::test {
namespace {

/// Exit status of a child process; nothing if it had to be killed.
std::optional<int> status_of(const std::function<void()>& child_does) {
  constexpr int kMostMs = 60'000;
  std::fflush(stdout);
  const pid_t child = ::fork();
  if (child == 0) {
    child_does();
    ::_exit(99);
  }
  int status = -1;
  for (int waited = 0; waited < kMostMs; waited += 10) {
    if (::waitpid(child, &status, WNOHANG) == child) return status;
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  ::kill(child, SIGKILL);
  ::waitpid(child, &status, 0);
  return std::nullopt;
}

class Forked : public OnSoftwareNpu {
 protected:
  const TempDir folder_;
  const Model model_ = Model::read(write_affine_model(folder_.path()));
  CompiledModel compiled_ = CompiledModel::compile(device_, model_);
};

bool is_refused(const std::function<void()>& call) {
  try {
    call();
  } catch (const Error& error) {
    return error.code() == ErrorCode::kUnsupported &&
           std::string(error.what()).find("forked") != std::string::npos;
  }
  return false;
}

TEST_F(Forked, ChildrenGetAClearErrorOfEachCall) {
  Request request = compiled_.create_request();
  request.infer();
  Request called_back = compiled_.create_request();
  called_back.set_callback([](const std::exception_ptr&) {});  // the model has a thread now
  Completions completions;
  Importer importer(device_);
  const int fd = make_dmabuf(4096);
  const KeptImport kept = importer.keep(fd);
  const std::pair<const char*, std::function<void()>> calls[] = {
      {"submit", [&] { request.submit(); }},
      {"wait", [&] { request.wait(); }},
      {"infer", [&] { request.infer(); }},
      {"set_callback", [&] { request.set_callback([](const std::exception_ptr&) {}); }},
      {"take", [&] { completions.take(); }},
      {"watch", [&] { completions.watch(request, 1); }},
      {"create_request", [&] { compiled_.create_request(); }},
      {"compile", [&] { CompiledModel::compile(device_, model_); }},
      {"compile_async", [&] { compile_async(device_, model_).get(); }},
      {"get_property", [&] { device_.get_property("CACHE_DIR"); }},
      {"get_property of a model", [&] { compiled_.get_property("PERFORMANCE_HINT"); }},
      {"open", [] { Device::open(DeviceKind::kSoftware); }},
      {"open by address", [] { Device::open("0000:00:0b.0"); }},
      {"list", [] { Device::list(); }},
      {"diagnose", [] { diagnose(); }},
      {"shareable_memory", [&] { device_.shareable_memory(); }},
      {"allocate", [&] { Tensor::allocate(device_, 64, MemoryUse::kInput); }},
      {"import", [&] { importer.import(fd); }},
      {"keep", [&] { importer.keep(fd); }},
      {"tensor", [&] { kept.tensor(); }},
  };
  for (const auto& [name, call] : calls) {
    EXPECT_EQ(status_of([&] { ::_exit(is_refused(call) ? 0 : 1); }), 0) << name;
  }
  EXPECT_NO_THROW(request.infer()) << "the parent goes on";
  ::close(fd);
}

TEST_F(Forked, ChildrenExitWhileTheirParentInfers) {
#if defined(__SANITIZE_ADDRESS__)
  GTEST_SKIP() << "at a child's exit LeakSanitizer misses what the parent's threads hold";
#endif
  std::atomic<bool> ends = false;
  std::vector<std::thread> busy;
  for (int count = 0; count < 2; ++count) {
    busy.emplace_back([&] {
      Request request = compiled_.create_request();
      while (!ends) request.infer();
    });
  }
  constexpr int kChildren = 50, kCode = 7;
  for (int child = 0; child < kChildren && !HasFailure(); ++child) {
    const auto status = status_of([] { std::exit(kCode); });
    ASSERT_TRUE(status) << "child " << child << " hangs in exit()";
    EXPECT_TRUE(WIFEXITED(*status) && WEXITSTATUS(*status) == kCode) << *status;
  }
  ends = true;
  for (std::thread& thread : busy) thread.join();
}

/// Another thread has the log's lock at the moment of some fork.
TEST_F(Forked, ChildrenDoNotWaitForALockThatStayedWithTheParent) {
  std::atomic<bool> ends = false;
  std::thread busy([&] {
    while (!ends) set_log_sink({});
  });
  constexpr int kChildren = 300;
  for (int child = 0; child < kChildren && !HasFailure(); ++child) {
    const auto status = status_of([] {
      set_log_sink({});
      ::_exit(0);
    });
    EXPECT_EQ(status, 0) << "child " << child;
  }
  ends = true;
  busy.join();
}

/// A child that was forked where the compilation tells of itself, and goes on there.
TEST_F(Forked, ChildrenOfACompilationLeaveItToTheirParent) {
  const pid_t parent = ::getpid();
  for (const CompilePhase phase : {CompilePhase::kWaiting, CompilePhase::kSerializing,
                                   CompilePhase::kCompiling, CompilePhase::kInitializing}) {
    SCOPED_TRACE(to_string(phase));
    std::optional<int> ended;
    CompileOptions options;
    options.progress = [&](const CompileProgress& progress) {
      if (progress.phase != phase || ::getpid() != parent) return;
      const pid_t child = ::fork();
      if (child == 0) {
        ::alarm(60);
        return;
      }
      int status = -1;
      ::waitpid(child, &status, 0);
      ended = status;
    };
    const CompileJob job = compile_async(device_, model_, options);
    CompiledModel made = job.get();
    made.create_request().infer();
    // LeakSanitizer gives a status of its own where it misses what the parent's threads hold.
    EXPECT_TRUE(ended && WIFEXITED(*ended)) << "the child did not end by itself";
  }
}

}  // namespace
}  // namespace npu::test
