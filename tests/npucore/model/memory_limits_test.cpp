// A process whose address space is limited: whatever it reaches, it ends with a result or an Error.
#include <gtest/gtest.h>
#include <sys/wait.h>

#include <cstdio>
#include <cstdlib>
#include <string>

#include "support.hpp"

namespace npu::test {
namespace {

struct End {
  int status = 0;
  std::string said;
};

End run_with(int mebibytes, const std::filesystem::path& model) {
  const auto command = std::string("exec '") + std::getenv("LIMITED_MEMORY") + "' " +
                       std::to_string(mebibytes) + " '" + model.string() + "' 2>&1";
  FILE* output = ::popen(command.c_str(), "r");
  End end;
  for (int c = std::fgetc(output); c != EOF; c = std::fgetc(output)) {
    end.said += static_cast<char>(c);
  }
  end.status = ::pclose(output);
  return end;
}

class MemoryLimits : public testing::TestWithParam<int> {};

TEST_P(MemoryLimits, EndInAResultOrAnError) {
  const TempDir folder;
  const auto end = run_with(GetParam(), write_affine_model(folder.path()));
  ASSERT_TRUE(WIFEXITED(end.status)) << "signal " << WTERMSIG(end.status) << "\n" << end.said;
  EXPECT_TRUE(WEXITSTATUS(end.status) == 0 || WEXITSTATUS(end.status) == 3)
      << WEXITSTATUS(end.status) << "\n"
      << end.said;
  RecordProperty("said", end.said);
}

INSTANTIATE_TEST_SUITE_P(Mebibytes, MemoryLimits, testing::Range(20, 701, 20),
                         testing::PrintToStringParamName());

}  // namespace
}  // namespace npu::test
