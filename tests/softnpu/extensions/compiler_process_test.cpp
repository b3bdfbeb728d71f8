#include "extensions/compiler_process.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "base/failure.hpp"

namespace softnpu {
namespace {

/// A program may wait for another, as Wine's do for its server.
TEST(CompilerProcesses, AreNotWaitedForWhereTheyNeverGetReady) {
  const std::string program = testing::TempDir() + "softnpu-waits-" + std::to_string(::getpid());
  std::ofstream(program) << "#!/bin/sh\necho for a server >&2\nexec sleep 60\n";
  std::filesystem::permissions(program, std::filesystem::perms::owner_all);
  CompilerProcess process(program, std::chrono::seconds(2));  // by then it has spoken
  try {
    process.ask({"compiler", {}, {}});
    ADD_FAILURE() << "it answered";
  } catch (const Failure& failure) {
    const std::string why = failure.what();
    EXPECT_NE(why.find("it was not ready in time; its last words: for a server"), why.npos) << why;
  }
  EXPECT_TRUE(process.ended());
  std::filesystem::remove(program);
}

}  // namespace
}  // namespace softnpu
