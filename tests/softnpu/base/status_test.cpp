#include "base/status.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstring>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace softnpu {
namespace {

/// The process's descriptors whose file is a page like that.
std::vector<std::string> pages() {
  std::vector<std::string> found;
  for (const auto& entry : std::filesystem::directory_iterator("/proc/self/fd")) {
    std::error_code gone;
    const auto target = std::filesystem::read_symlink(entry, gone);
    if (!gone && target == "/memfd:softnpu-status (deleted)") {
      found.push_back(entry.path().string());
    }
  }
  return found;
}

using Words = std::array<uint64_t, 6>;

/// As another process reads it.
Words read_page(const std::string& path) {
  const UniqueFd file(::open(path.c_str(), O_RDONLY));
  Words words{};
  EXPECT_EQ(::pread(file.get(), words.data(), sizeof words, 0), static_cast<ssize_t>(sizeof words));
  return words;
}

class StatusTest : public testing::Test {
 protected:
  void SetUp() override {
    ASSERT_EQ(pages().size(), 1u);
    path_ = pages().front();
  }
  std::optional<Seen> seen_ = std::make_optional<Seen>();
  std::string path_;
};

TEST_F(StatusTest, TellsWhatTheProcessDoes) {
  Status& status = Status::of_process();
  const Words before = read_page(path_);
  EXPECT_EQ(std::memcmp(before.data(), "SOFTNPU\1", 8), 0);
  EXPECT_EQ(before[1], static_cast<uint64_t>(::getpid()));
  status.command_begins(77);
  EXPECT_EQ(read_page(path_)[3], 77u);
  status.command_ends(1000);
  status.count_inference();
  status.add_memory(4096);
  const Words after = read_page(path_);
  EXPECT_EQ(after[2], before[2] + 1000);
  EXPECT_EQ(after[3], 0u);
  EXPECT_EQ(after[4], before[4] + 1);
  EXPECT_EQ(after[5], before[5] + 4096);
  status.remove_memory(4096);
  EXPECT_EQ(read_page(path_)[5], before[5]);
}

TEST_F(StatusTest, IsThereOnceForAllContexts) {
  {
    const Seen another;
    EXPECT_EQ(pages(), std::vector{path_});
  }
  EXPECT_EQ(pages(), std::vector{path_});
}

TEST_F(StatusTest, IsThereAsLongAsAContext) {
  Status& status = Status::of_process();
  status.count_inference();
  const uint64_t inferences = read_page(path_)[4];
  seen_.reset();
  EXPECT_TRUE(pages().empty());
  status.count_inference();  // the engine may end something
  const Seen next;
  ASSERT_EQ(pages().size(), 1u);
  EXPECT_EQ(read_page(pages().front())[4], inferences + 1);
  status.count_inference();
  EXPECT_EQ(read_page(pages().front())[4], inferences + 2);
}

// A file that another process cut short would end this one at its next inference.
TEST_F(StatusTest, CanNotBeCutShort) {
  const UniqueFd file(::open(path_.c_str(), O_RDWR));
  if (!file) return;  // nor opened for writing at all
  EXPECT_NE(::ftruncate(file.get(), 0), 0);
  EXPECT_EQ(read_page(path_)[1], static_cast<uint64_t>(::getpid()));
}

TEST_F(StatusTest, AForkedChildHasItsOwn) {
  Status& status = Status::of_process();
  status.add_memory(4096);
  const Words before = read_page(path_);
  const pid_t child = ::fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    status.count_inference();
    status.remove_memory(4096);
    const bool had_none = pages().empty();
    const Seen seen;
    const auto own = pages();
    const bool ok = had_none && own.size() == 1 &&
                    read_page(own[0])[1] == static_cast<uint64_t>(::getpid()) &&
                    read_page(own[0])[5] == before[5] - 4096;
    ::_exit(ok ? 0 : 1);
  }
  int ended = 0;
  ASSERT_EQ(::waitpid(child, &ended, 0), child);
  EXPECT_EQ(ended, 0);
  EXPECT_EQ(read_page(path_), before);
  status.remove_memory(4096);
}

}  // namespace
}  // namespace softnpu
