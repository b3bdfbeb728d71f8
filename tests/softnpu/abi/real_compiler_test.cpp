// SOFTNPU_COMPILER=real, with a compiler library that is here everywhere: the software NPU's own,
// in another process (SERVE_WITHOUT_FILES). Its planned faults are refusals that only it answers.
// tests/compiler has Intel's.
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <thread>

#include "child.hpp"

namespace softnpu_test {
namespace {

ze_result_t compile(Client& client, const std::string& buffer, const char* flags = "") {
  Graph graph;
  const ze_result_t result = client.compile_ir(buffer, graph, flags);
  if (result == ZE_RESULT_SUCCESS) {
    EXPECT_EQ(client.run(graph), kExpected);
  }
  return result;
}

/// The processes that the calling thread has started; 0 for none.
pid_t started_process() {
  pid_t pid = 0;
  std::ifstream("/proc/thread-self/children") >> pid;
  return pid;
}

bool ends_soon(pid_t pid) {
  using namespace std::chrono_literals;
  for (auto waited = 0ms; waited < 10s; waited += 10ms) {
    if (::kill(pid, 0) != 0) return true;
    std::this_thread::sleep_for(10ms);
  }
  return false;
}

class RealCompiler : public InChild {
 protected:
  template <class Body>
  void expect_no_fault_with(const std::string& library, const std::string& faults,
                            const Body& body) {
    expect_no_fault({{"SOFTNPU_COMPILER", "real"},
                     {"SOFTNPU_COMPILER_LIBRARY", library},
                     {"SOFTNPU_FAULT", faults}},
                    body);
  }
  const std::string program_ = std::getenv("SERVE_WITHOUT_FILES");
};

TEST_F(RealCompiler, RefusesWithItsResultAndLog) {
  expect_no_fault_with(program_, "vclExecutableCreate:OUT_OF_HOST_MEMORY@1", [](Client& client) {
    EXPECT_EQ(compile(client, sample_buffer()), ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY);
    EXPECT_EQ(client.log, "vclExecutableCreate: OUT_OF_MEMORY");
    EXPECT_EQ(compile(client, sample_buffer()), ZE_RESULT_SUCCESS) << client.log;
    EXPECT_EQ(client.log, "");
    EXPECT_EQ(compile(client, sample_buffer(), "--config NPU_MAGIC=\"1\""),
              ZE_RESULT_ERROR_INVALID_ARGUMENT);
    EXPECT_TRUE(has(client.log, "NPU_MAGIC"));
  });
}

TEST_F(RealCompiler, ListsTheLayers) {
  expect_no_fault_with(program_, "vclQueryNetworkCreate:OUT_OF_HOST_MEMORY@1", [](Client& client) {
    const std::string buffer = sample_buffer();
    try {
      client.supported_layers(buffer);
      ADD_FAILURE() << "it was not refused";
    } catch (const std::runtime_error& error) {
      EXPECT_STREQ(error.what(), "pfnQueryNetworkCreate2 returned OUT_OF_HOST_MEMORY");
    }
    EXPECT_TRUE(has(client.supported_layers(buffer), "<sum>"));
  });
}

/// The other process cannot read this one's memory.
TEST_F(RealCompiler, GetsTheWeightsThatCameByAddress) {
  expect_no_fault_with(program_, "", [](Client& client) {
    const float weights[] = {1, 2, 3, 4};
    EXPECT_EQ(compile(client, weightless_sample(weights), kByAddress), ZE_RESULT_SUCCESS)
        << client.log;
  });
}

TEST_F(RealCompiler, MayBeALibrary) {
  expect_no_fault_with(
      std::getenv("COMPILER_LIBRARY"), "vclExecutableCreate:UNKNOWN@1", [](Client& client) {
        EXPECT_NE(compile(client, sample_buffer()), ZE_RESULT_SUCCESS);
        EXPECT_EQ(compile(client, sample_buffer()), ZE_RESULT_SUCCESS) << client.log;
        EXPECT_EQ(started_process(), 0);
      });
}

TEST_F(RealCompiler, ThatIsMissingIsOneErrorThatSaysWhereItComesFrom) {
  const auto expect_told = [this](const std::string& library, const char* part) {
    expect_no_fault_with(library, "", [part](Client& client) {
      EXPECT_EQ(compile(client, sample_buffer()), ZE_RESULT_ERROR_UNSUPPORTED_FEATURE);
      EXPECT_TRUE(has(client.log, part));
    });
  };
  expect_told("", "scripts/setup-compiler.sh");
  expect_told("/nowhere/compiler.so", "/nowhere/compiler.so");
  expect_told("/nowhere/compiler", "No such file or directory");
  expect_told("/bin/false", "it ended");
}

TEST_F(RealCompiler, IsStartedAgainAfterItEnded) {
  expect_no_fault_with(program_, "vclExecutableCreate:ABORT@1", [](Client& client) {
    EXPECT_EQ(compile(client, sample_buffer()), ZE_RESULT_ERROR_UNSUPPORTED_FEATURE);
    EXPECT_TRUE(has(client.log, "it ended without an answer"));
    EXPECT_EQ(started_process(), 0);
    EXPECT_EQ(compile(client, sample_buffer()), ZE_RESULT_ERROR_UNSUPPORTED_FEATURE);
    EXPECT_EQ(started_process(), 0);
  });
}

/// Not even what it prints is left behind.
TEST_F(RealCompiler, ThatPrintsWithoutEndEndsWithThisOne) {
  // The children keep the parent's name.
  ::setenv("SOFTNPU_TEST_RUN", std::to_string(::getpid()).c_str(), 0);
  const std::string file = testing::TempDir() + "softnpu-prints-" + std::getenv("SOFTNPU_TEST_RUN");
  const std::string program = file + "-program";
  std::ofstream(program) << "#!/bin/sh\nexec yes >&2\n";
  std::filesystem::permissions(program, std::filesystem::perms::owner_all);
  expect_no_fault_with(program, "", [&file](Client& client) {
    pid_t started = 0;
    std::thread([&client] { compile(client, sample_buffer()); }).detach();
    while (started == 0) {
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
      for (const auto& task : std::filesystem::directory_iterator("/proc/self/task")) {
        std::ifstream(task.path() / "children") >> started;
        if (started != 0) break;
      }
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
    std::ofstream(file) << started << std::flush;
    std::_Exit(0);
  });
  pid_t pid = 0;
  std::ifstream(file) >> pid;
  ASSERT_GT(pid, 0);
  EXPECT_TRUE(ends_soon(pid)) << pid;
  ::kill(pid, SIGKILL);
  std::filesystem::remove(file);
  std::filesystem::remove(program);
}

TEST_F(RealCompiler, IsOneProcessThatEndsWithThisOne) {
  // The children keep the parent's name.
  ::setenv("SOFTNPU_TEST_RUN", std::to_string(::getpid()).c_str(), 0);
  const std::string file = testing::TempDir() + "softnpu-real-" + std::getenv("SOFTNPU_TEST_RUN");
  for (const bool at_once : {false, true}) {
    const auto body = [&](Client& client) {
      EXPECT_EQ(compile(client, sample_buffer()), ZE_RESULT_SUCCESS) << client.log;
      const pid_t first = started_process();
      EXPECT_EQ(compile(client, sample_buffer()), ZE_RESULT_SUCCESS) << client.log;
      EXPECT_EQ(started_process(), first);
      std::ofstream(file) << first;
      if (!at_once) {
        std::exit(testing::Test::HasFailure() ? 1 : 0);
      }
    };
    expect_no_fault_with(program_, "", body);
    pid_t pid = 0;
    std::ifstream(file) >> pid;
    ASSERT_GT(pid, 0);
    EXPECT_TRUE(ends_soon(pid)) << pid;
  }
  std::filesystem::remove(file);
}

/// The child's own library refuses its first graph; the parent's has done so.
TEST_F(RealCompiler, OfAForkedChildIsAProcessOfItsOwn) {
  expect_no_fault_with(program_, "vclExecutableCreate:OUT_OF_HOST_MEMORY@1", [](Client& client) {
    EXPECT_EQ(compile(client, sample_buffer()), ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY);
    const pid_t child = ::fork();
    if (child == 0) {
      ::alarm(30);
      std::_Exit(compile(client, sample_buffer()) == ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY ? 0 : 1);
    }
    int status = -1;
    ::waitpid(child, &status, 0);
    EXPECT_EQ(status, 0);
    EXPECT_EQ(compile(client, sample_buffer()), ZE_RESULT_SUCCESS) << client.log;
  });
}

}  // namespace
}  // namespace softnpu_test
